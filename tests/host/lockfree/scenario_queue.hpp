// The indexed queue: threads take items, stamp them, and put them back, while tags wrap.
//
// Checked: an item has one owner at a time, and its payload is ordered between owners; each consumer sees each
// producer's stamps in rising order; a queue that always holds something is never found empty; at the end every item
// is there once and the nodes form one list.
#pragma once

#include "kma/lockfree/indexed_queue.cl"

template <uint threads> class scenario {
public:
    void before()
    {
        // With as many items as threads, each holding one at most, a thread that holds none always finds one. With
        // fewer the queue runs empty.
        capacity_ = shim::random(2) == 0 ? threads : few;
        queue_ = shim::objects.construct<kma_queue>(memory_);
        for (uint node = 0; node <= capacity_; node++)
            shim::objects.construct<kma_queue_node>(kma_queue_nodes(queue_) + node);
        // The tags wrap within a few operations. The last item starts outside: with thread 0.
        kma_queue_init(queue_, capacity_, capacity_ - 1, 0xfffffffeu, 0, 1);
        for (uint item = 0; item < capacity_; item++)
            payload_[item] = stamp(threads, item + 1);
    }

    void thread(uint me)
    {
        const uint rounds = shim::chosen.rounds ? shim::chosen.rounds : shim::is_model_checker ? 3 : 40;
        uint made = 0;
        if (shim::chosen.bound > 1 && me > 1)
            return; // all schedules of three threads would be too many
        if (me == 0) {
            payload_[capacity_ - 1] = stamp(me, ++made);
            kma_queue_enqueue(queue_, capacity_ - 1);
        }
        for (uint round = 0; round < rounds; round++) {
            const uint item = kma_queue_dequeue(queue_);
            if (item == KMA_QUEUE_EMPTY) {
                shim::check(capacity_ == few, "empty, though there always was an item");
                continue;
            }
            shim::check(item < capacity_, "an item that does not exist");
            take_note(me, payload_[item]);
            const uint mine = stamp(me, ++made);
            payload_[item] = mine;
            shim::linger();
            shim::check(payload_[item] == mine, "an item has two owners");
            kma_queue_enqueue(queue_, item);
        }
    }

    void after()
    {
        check_list();
        bool seen[most] = {};
        for (uint count = 0; count < capacity_; count++) {
            const uint item = kma_queue_dequeue(queue_);
            shim::check(item < capacity_, "an item is missing at the end");
            shim::check(!seen[item], "an item is there twice at the end");
            seen[item] = true;
        }
        shim::check(kma_queue_dequeue(queue_) == KMA_QUEUE_EMPTY, "an item too many at the end");
        check_carriers();
        shim::objects.destroy_all();
    }

private:
    static constexpr uint few = shim::is_model_checker ? 2 : 4;
    static constexpr uint most = threads > few ? threads : few;

    static uint stamp(uint producer, uint number) { return producer << 24 | number; }

    // Queues are first in, first out: what one producer put in comes out in that order.
    void take_note(uint me, uint payload)
    {
        uint &last = newest_[me][payload >> 24];
        shim::check((payload & 0xffffff) > last, "a producer's items came out of order");
        last = payload & 0xffffff;
    }

    // All items are inside, so the list has all nodes, and tail is its last.
    void check_list()
    {
        bool seen[most + 1] = {};
        uint node = kma_queue_index(kma_queue_load(&queue_->head, KMA_RELAXED));
        for (uint count = 0; count <= capacity_; count++) {
            shim::check(node <= capacity_, "the list is too short");
            shim::check(!seen[node], "the list has a cycle");
            seen[node] = true;
            const uint next = kma_queue_index(kma_queue_load(kma_queue_next(queue_, node), KMA_RELAXED));
            if (next == KMA_QUEUE_END)
                shim::check(node == kma_queue_index(kma_queue_load(&queue_->tail, KMA_RELAXED)),
                            "the tail is not the last node");
            node = next;
        }
        shim::check(node == KMA_QUEUE_END, "the list is too long");
    }

    // All items are outside, so each node but the dummy is the carrier of one.
    void check_carriers()
    {
        bool seen[most + 1] = {};
        seen[kma_queue_index(kma_queue_load(&queue_->head, KMA_RELAXED))] = true;
        for (uint item = 0; item < capacity_; item++) {
            const uint carrier = kma_queue_nodes(queue_)[item].carrier;
            shim::check(carrier <= capacity_ && !seen[carrier], "a node has two owners");
            seen[carrier] = true;
        }
    }

    uint capacity_ = few;
    alignas(16) uchar memory_[sizeof(kma_queue) + (most + 1) * sizeof(kma_queue_node)];
    kma_queue *queue_;
    KMA_PLAIN(uint) payload_[most];
    uint newest_[threads][threads + 1] = {}; // by consumer and producer
};
