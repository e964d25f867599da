// A list over a bump heap: threads push nodes, and go along the list; one takes all nodes, or some, meanwhile.
//
// Checked: a node that is reached is ordered after its writing, and a thread's nodes are met newest first; each node is
// taken once, or in the list at the end. Where nobody goes along the list, taken nodes are pushed again at once.
#pragma once

#define KMA_HEAP bump
#include "kma/containers/list.cl"

struct list_item {
    kma_list_node node; // first
    KMA_PLAIN(uint) owner;
    KMA_PLAIN(uint) number; // rising with each push of its owner
};

template <uint threads> class scenario {
public:
    void before()
    {
        heap_ = shim::objects.construct<kma_heap>(memory_);
        kma_bump_init(heap_, sizeof(memory_), 0, 0, 1);
        list_ = shim::objects.construct<kma_list>(list_memory_);
        kma_list_init(list_);
        variant_ = shim::random(shim::chosen.bound != 0 ? 2 * ways : 1u << 16);
        way_ = variant_ % ways;
        if (variant_ / ways % 2 == 1) // else the first push meets an empty list
            push(threads);
    }

    void thread(uint me)
    {
        if (shim::chosen.bound > 1 && me > 1)
            return; // all schedules of three threads would be too many
        for (uint round = 0; round < rounds(); round++) {
            if (me != 0 || way_ == only_pushes) {
                push(me);
                if (goes_along())
                    check_along(me);
            } else if (way_ == takes_all || way_ == takes_all_and_looks) {
                take_all();
            } else if (way_ == pushes_again) {
                push_again(me);
            } else {
                remove_some(round);
            }
        }
        if (me != 1 || shim::chosen.bound != 0)
            return;
        if (way_ == takes_all) // a second thread that does
            take_all();
        else if (way_ == pushes_again)
            push_again(me);
    }

    void after()
    {
        for (kma_list_node *at = kma_list_first(heap_, list_); at; at = kma_list_next(heap_, at))
            note(item_of(at));
        for (uint me = 0; me <= threads; me++)
            for (uint number = 0; number < made_[me]; number++)
                shim::check(met_[me][number] + pushed_again_[me][number] == 1, "a node is lost, or there twice");
        check_alone();
        shim::objects.destroy_all();
    }

private:
    enum : uint { only_pushes, takes_all, takes_all_and_looks, pushes_again, removes, removes_and_looks, ways };
    static constexpr uint max_rounds = 8;
    static constexpr uint most = (max_rounds + 1) * (max_rounds * threads + 1); // pushes of a thread, repeated ones too

    static uint rounds() { return shim::chosen.rounds ? shim::chosen.rounds : shim::is_model_checker ? 2 : max_rounds; }
    bool goes_along() const { return way_ == only_pushes || way_ == takes_all_and_looks || way_ == removes_and_looks; }
    static list_item *item_of(kma_list_node *node) { return reinterpret_cast<list_item *>(node); }

    void push(uint me) { push(me, KMA_NEW(heap_, list_item)); }

    void push(uint me, list_item *item)
    {
        shim::check(item && made_[me] < most, "the heap is too small for this test");
        item->owner = me;
        item->number = made_[me]++;
        kma_list_push(heap_, list_, &item->node);
    }

    // A node that left the list, or is in it at the end: of one thread.
    void note(list_item *item)
    {
        shim::check(item->owner <= threads && item->number < most, "a node that nobody pushed");
        met_[item->owner][item->number]++;
    }

    // Each owner's numbers fall, in a chain; this thread's begin with its newest, unless somebody takes nodes.
    void check_along(uint me)
    {
        uint last[threads + 1];
        std::fill(last, last + threads + 1, most);
        uint steps = 0;
        bool is_mine = way_ != only_pushes;
        for (kma_list_node *at = kma_list_first(heap_, list_); at; at = kma_list_next(heap_, at)) {
            const uint owner = item_of(at)->owner, number = item_of(at)->number;
            shim::check(owner <= threads && number < last[owner], "a node is met twice, or out of order");
            shim::check(owner != me || is_mine || number + 1 == made_[me], "a thread does not find its own node");
            is_mine |= owner == me;
            last[owner] = number;
            shim::check(++steps <= (threads + 1) * most, "a list has a cycle");
        }
        shim::check(is_mine, "a thread does not find its own node");
    }

    void take_all()
    {
        uint steps = 0;
        for (kma_list_node *at = kma_list_take_all(heap_, list_); at; at = kma_list_next(heap_, at)) {
            note(item_of(at));
            shim::check(++steps <= (threads + 1) * most, "a chain has a cycle");
        }
    }

    // Nobody goes along the list: what was taken is the taker's at once, and may come back while another thread pushes.
    void push_again(uint me)
    {
        kma_list_node *next = nullptr;
        uint steps = 0;
        for (kma_list_node *at = kma_list_take_all(heap_, list_); at; at = next) {
            next = kma_list_next(heap_, at);
            pushed_again_[item_of(at)->owner][item_of(at)->number]++;
            push(me, item_of(at));
            shim::check(++steps <= (threads + 1) * most, "a chain has a cycle");
        }
    }

    // Every second node or so; what is in front is what remove says it is, unless others push there.
    void remove_some(uint round)
    {
        kma_list_node *before = nullptr, *next = nullptr;
        uint count = 0;
        for (kma_list_node *at = kma_list_first(heap_, list_); at; at = next) {
            next = kma_list_next(heap_, at);
            if ((count++ + round + variant_ / 64) % 2 == 0) {
                note(item_of(at));
                before = kma_list_remove(heap_, list_, variant_ / 32 % 2 == 0 ? before : nullptr, at);
                shim::check(!before || kma_list_next(heap_, before) == next, "remove does not say which node is in front");
            } else {
                before = at;
            }
            shim::check(count <= (threads + 1) * most, "a list has a cycle");
        }
    }

    // Alone: nodes leave from the front, the middle and the end; one that is not there does not.
    void check_alone()
    {
        shim::check((kma_list_first(heap_, list_) == nullptr) == (kma_list_take_all(heap_, list_) == nullptr), "all of nothing");
        shim::check(!kma_list_first(heap_, list_) && !kma_list_take_all(heap_, list_), "something is left where all was taken");
        list_item *items[4];
        for (uint i = 0; i < 4; i++) {
            items[i] = KMA_NEW(heap_, list_item);
            shim::check(items[i], "the heap is too small for this test");
            kma_ref_init(&items[i]->node.next, KMA_NULL);
            shim::check(!kma_list_remove(heap_, list_, nullptr, &items[i]->node), "a node of a list that has none");
            if (i != 3)
                kma_list_push(heap_, list_, &items[i]->node);
        }
        const auto holds = [&](std::initializer_list<uint> wanted) {
            kma_list_node *at = kma_list_first(heap_, list_);
            for (const uint i : wanted) {
                shim::check(at == &items[i]->node, "a list does not hold what it should");
                at = kma_list_next(heap_, at);
            }
            shim::check(!at, "a list holds more than it should");
        };
        holds({2, 1, 0});
        shim::check(!kma_list_remove(heap_, list_, nullptr, &items[3]->node), "a node that is not there was in front of none");
        holds({2, 1, 0});
        shim::check(kma_list_remove(heap_, list_, &items[2]->node, &items[0]->node) == &items[1]->node, "which node was in front");
        holds({2, 1});
        shim::check(kma_list_remove(heap_, list_, nullptr, &items[1]->node) == &items[2]->node, "which node was in front");
        holds({2});
        shim::check(!kma_list_remove(heap_, list_, nullptr, &items[2]->node), "nothing was in front");
        holds({});
    }

    static constexpr size_t room = ((threads + 1) * (max_rounds + 1) + 4) * (sizeof(list_item) + 16);
    alignas(16) uchar memory_[sizeof(kma_heap) + 16 + room];
    alignas(16) uchar list_memory_[sizeof(kma_list)];
    kma_heap *heap_;
    kma_list *list_;
    uint variant_ = 0;
    uint way_ = 0;
    uint made_[threads + 1] = {}; // pushes: each thread's, and before
    std::atomic<uint> met_[threads + 1][most] = {};
    std::atomic<uint> pushed_again_[threads + 1][most] = {}; // the same node under another number; orders nothing
};
