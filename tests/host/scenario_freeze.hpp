// The superblock heap while one thread stops for good at some atomic operation: nobody waits for it. The others finish
// what they have to do, and what they cannot get any more is what it had or asked for, and one superblock.
//
// At width 1 only: the lanes of a group stop together.
#pragma once

#include "superblock_heap.hpp"

template <uint threads> class scenario {
public:
    void before()
    {
        const shape &chosen_shape = shapes[shim::random(std::size(shapes))];
        shape_ = &chosen_shape;
        heap_patience = shim::random(4);
        heap_.init(shape_->superblocks, shape_->shift);
        kma_store_u32(&finished_, 0, KMA_RELAXED);
        choice_ = shim::random(1u << 20);
        victim_ = shim::random(threads);
        shim::plan_freeze(victim_, shim::random(1u << (3 + shim::random(5))));
    }

    void thread(uint me)
    {
        const uint rounds = shim::chosen.rounds ? shim::chosen.rounds : shim::is_model_checker ? 5 : 40;
        worker &mine = workers_[me];
        for (uint round = 0; round < rounds; round++) {
            const uint choice = kma_mix32((choice_ * 64 + me) * 64 + round);
            if (choice % 4 >= 2 ? mine.count < most_held : mine.count == 0)
                take(me, shape_->kinds[choice / 8 % 2]);
            else
                give(mine);
        }
        // The last of the others has their blocks, with all that was done to them.
        if (me != victim_ && kma_fetch_add_u32(&finished_, 1, KMA_ACQ_REL) == threads - 2) {
            if (shim::is_frozen())
                check_without_victim(me);
            shim::thaw();
        }
    }

    void after()
    {
        shim::thaw();
        for (worker &each : workers_)
            while (each.count != 0)
                give(each);
        heap_.check_books({});
        for (const uint units : shape_->kinds)
            shim::check(heap_.capacity(units) == heap_.superblocks() * heap_.slots_of(units),
                        "the freed heap has not its full capacity");
        uint nulls = 0;
        for (const worker &each : workers_)
            nulls += each.nulls;
        heap_.check_log(KMA_ERROR_OUT_OF_MEMORY, nulls, "the error log does not count the NULLs");
        shim::objects.destroy_all();
    }

private:
    static constexpr uint most_held = 2;

    struct shape {
        uint shift;
        uint superblocks;
        uint kinds[2]; // units of the blocks asked for
    };
    static constexpr shape shapes[] = {{2, 3, {1, 4}}, {2, 4, {1, 2}}, {2, 5, {2, 4}}, {2, 3, {1, 1}}};

    struct worker {
        block blocks[most_held];
        uint count = 0; // a block counts until its free has returned
        uint made = 0;
        uint nulls = 0;
    };

    void take(uint me, uint units)
    {
        worker &mine = workers_[me];
        const block got = heap_.alloc(units, (me + 1) << 10 | (++mine.made & 0x3ff));
        if (got.units != 0)
            mine.blocks[mine.count++] = got;
        else
            mine.nulls++;
    }

    void give(worker &from)
    {
        heap_.free(from.blocks[from.count - 1]);
        from.count--;
    }

    // By the last that still runs: frees what the others have, and takes all there is.
    void check_without_victim(uint me)
    {
        for (uint other = 0; other < threads; other++)
            while (other != victim_ && workers_[other].count != 0)
                give(workers_[other]);
        const uint units = shape_->kinds[choice_ % 2];
        uint pinned[most_superblocks] = {};
        const worker &victim = workers_[victim_];
        for (uint n = 0; n < victim.count; n++)
            pinned[heap_.superblock_of(victim.blocks[n])] = 1;
        uint left = heap_.superblocks();
        for (const uint each : pinned)
            left -= each;
        const uint expected = left > 1 ? (left - 1) * heap_.slots_of(units) : 0;

        block_list all;
        for (;;) {
            const block one = heap_.alloc(units, (me + 1) << 10 | (++workers_[me].made & 0x3ff));
            if (one.units == 0)
                break;
            all.push(one);
        }
        workers_[me].nulls++;
        shim::check(all.count >= expected, "a thread that stopped cost more than one superblock");
        while (all.count != 0)
            heap_.free(all.pop(all.count - 1));
    }

    superblock_heap heap_;
    worker workers_[threads];
    kma_atomic_u32 finished_;
    const shape *shape_ = nullptr;
    uint choice_ = 0;
    uint victim_ = 0;
};
