// The quarantine of freed blocks: threads put in what they own, own what leaves it for that, and now and then take out
// all that is in, as a malloc does that found no memory.
//
// Checked: an item has one owner at a time, and its payload (a plain field: the poison of a freed block) is as its last
// owner left it; at rest each item is in the quarantine or a thread's own, once.
#pragma once

#define KMA_QUARANTINE 3u
#include "kma/heap/common/quarantine.cl"
#include "kma/platform/bits.cl"

template <uint threads> class scenario {
public:
    void before()
    {
        kma_quarantine_init(&quarantine_, 0, 1);
        for (uint item = 1; item <= items; item++)
            payload_[item] = 0;
        for (uint me = 0; me < threads; me++)
            for (workers_[me].count = 0; workers_[me].count < each;)
                push(me, me * each + workers_[me].count + 1);
        choice_ = shim::random(1u << 16);
        shim::plan_nap(threads);
    }

    void thread(uint me)
    {
        const uint rounds = shim::chosen.rounds ? shim::chosen.rounds : shim::is_model_checker ? 4 : 60;
        for (uint round = 0; round < rounds; round++) {
            const uint choice = kma_mix32((choice_ * threads + me) * 64 + round);
            if (choice % 4 == 0 || workers_[me].count == 0)
                empty(me);
            else
                put_in(me, choice / 4 % workers_[me].count);
        }
    }

    void after()
    {
        bool seen[items + 1] = {};
        const auto see = [&](uint item) {
            shim::check(item != 0 && item <= items && !seen[item], "an item twice, or one that never was");
            seen[item] = true;
        };
        for (const worker &one : workers_)
            for (uint i = 0; i < one.count; i++)
                see(one.held[i]);
        for (uint place = 0; place < KMA_QUARANTINE; place++)
            if (const uint item = kma_quarantine_take(&quarantine_, place))
                see(item);
        for (uint item = 1; item <= items; item++)
            shim::check(seen[item], "an item is lost");
        for (uint place = 0; place < KMA_QUARANTINE; place++)
            shim::check(kma_quarantine_take(&quarantine_, place) == 0, "a place that was emptied is not empty");
    }

private:
    static constexpr uint each = 2; // items that a thread begins with
    static constexpr uint items = threads * each;

    struct worker {
        uint held[items];
        uint count = 0;
    };

    void push(uint me, uint item) { workers_[me].held[workers_[me].count++] = item; }

    // What leaves the quarantine is as it was left there, and mine.
    void own(uint me, uint item)
    {
        shim::check(item <= items, "an item that never was");
        shim::check(payload_[item] == poison, "an item is not as it was left");
        payload_[item] = me;
        shim::linger();
        shim::check(payload_[item] == me, "an item has two owners");
        push(me, item);
    }

    void put_in(uint me, uint which)
    {
        worker &mine = workers_[me];
        std::swap(mine.held[which], mine.held[mine.count - 1]);
        const uint item = mine.held[--mine.count];
        payload_[item] = poison;
        if (const uint out = kma_quarantine_swap(&quarantine_, item))
            own(me, out);
    }

    void empty(uint me)
    {
        for (uint place = 0; place < KMA_QUARANTINE; place++)
            if (const uint item = kma_quarantine_take(&quarantine_, place))
                own(me, item);
    }

    static constexpr uint poison = 0xdddddddd;

    kma_quarantine quarantine_;
    KMA_PLAIN(uint) payload_[items + 1];
    worker workers_[threads];
    uint choice_ = 0;
};
