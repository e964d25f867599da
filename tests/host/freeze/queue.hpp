// The indexed queue: a thread that is stopped costs the item that it holds, puts in or takes out.
#pragma once

#include "freeze/subject.hpp"
#include "kma/lockfree/indexed_queue.cl"

namespace freeze {

template <uint threads> class queue_subject : public subject {
public:
    static constexpr const char *structure = "queue";
    static constexpr bool has_lanes = false;
    static constexpr uint operations = 2, states = 8; // so many items inside; from 4 on with a tail that lags
    static constexpr bool applies(uint, uint state) { return state != 4; }
    static const char *operation_name(uint operation) { return operation == enqueue ? "enqueue" : "dequeue"; }
    static const char *state_name(uint state)
    {
        static constexpr const char *names[states] = {
            "empty",
            "1 item",
            "2 items",
            "3 items",
            "",
            "1 item, the tail lags",
            "2 items, the tail lags",
            "3 items, the tail lags",
        };
        return names[state];
    }

    queue_subject(uint operation, uint state) : operation_(operation), state_(state) {}

    void prepare(crowd, uint victim, uint heir) override
    {
        const uint inside = state_ % 4;
        queue_ = shim::objects.construct<kma_queue>(memory_);
        for (uint node = 0; node <= items; node++)
            shim::objects.construct<kma_queue_node>(kma_queue_nodes(queue_) + node);
        kma_queue_init(queue_, items, 0, 0xfffffffeu, 0, 1);
        for (uint item = 0; item < items; item++)
            payload_[item] = 0;
        for (uint item = 0; item < inside; item++) {
            const kma_queue_word tail = kma_queue_load(&queue_->tail, KMA_RELAXED);
            kma_queue_enqueue(queue_, item);
            // As one leaves it who is stopped after he has linked his node.
            if (state_ >= 4 && item + 1 == inside)
                kma_queue_store(&queue_->tail, tail, KMA_RELAXED);
        }
        for (uint item = inside; item < items; item++)
            give(item == inside ? victim : heir, item);
    }

    void operate(uint me) override
    {
        if (operation_ == enqueue)
            put_one(me);
        else
            take_one(me);
    }

    void go_on(uint me) override
    {
        while (count_[me] != 0)
            bounded([&] { return put_one(me); });
        for (uint pair = 0; pair < pairs; pair++) {
            uint attempts = 0;
            while (!bounded([&] { return take_one(me); }))
                shim::check(++attempts < most_attempts, "no item to be had while a thread is stopped");
            bounded([&] { return put_one(me); });
        }
    }

    void check_without(crowd held, uint me) override
    {
        while (bounded([&] { return take_one(me); }))
            ;
        shim::check(count_[me] + popcount(held) >= items, "a thread that was stopped cost more than one item");
        while (count_[me] != 0)
            bounded([&] { return put_one(me); });
    }

    void check_at_rest() override
    {
        uint inside = 0;
        while (take_one(0))
            inside++;
        shim::check(inside == items, "an item is lost");
    }

private:
    enum : uint { enqueue, dequeue };
    static constexpr uint items = threads + 4;

    void give(uint who, uint item) { owned_[who][count_[who]++] = item; }

    // Its owner's until the enqueue has returned.
    bool put_one(uint me)
    {
        const uint item = owned_[me][count_[me] - 1];
        payload_[item] = payload_[item] + 1;
        kma_queue_enqueue(queue_, item);
        count_[me]--;
        return true;
    }

    bool take_one(uint me)
    {
        const uint item = kma_queue_dequeue(queue_);
        if (item == KMA_QUEUE_EMPTY)
            return false;
        shim::check(item < items && count_[me] < items, "an item that does not exist");
        payload_[item] = payload_[item] + 1;
        give(me, item);
        return true;
    }

    const uint operation_, state_;
    alignas(16) uchar memory_[sizeof(kma_queue) + (items + 1) * sizeof(kma_queue_node)];
    kma_queue *queue_ = nullptr;
    KMA_PLAIN(uint) payload_[items];
    uint owned_[threads][items] = {};
    uint count_[threads] = {};
};

} // namespace freeze
