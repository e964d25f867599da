// Threads on a tiny superblock heap: from states that a lone prelude has led to, they take, hold, hand on and free
// blocks of mixed classes. The scenarios that include this say how large heap, superblocks and blocks are.
//
// Checked: no two owners of a unit at a time, and each ordered after the one before (plain fields); contents; the
// error log counts every NULL and every wrong free; and at rest, see superblock_heap.hpp, all books, that a lone caller
// gets all that is free, and, once everything is freed, that the heap has its full capacity for each class.
#pragma once

#include "superblock_heap.hpp"

struct heap_shape {
    uint shift;
    uint superblocks; // 0: so many that NULL is never right
    uint fill;        // blocks that the prelude takes, of the first kind; 0: some, of any
    uint ballast;     // so many of these that nobody frees before the end, anywhere in the heap
    uint kind_count;
    uint kinds[4]; // units of the blocks asked for
};

template <uint threads, const auto &shapes> class superblock_threads {
public:
    void before()
    {
        variant_ = shim::random(shim::chosen.bound != 0 ? 1 : 1u << 20);
        draw_ = variant_ * 0x9e3779b9u + 1;
        shape_ = &shapes[draw(std::size(shapes))];
        heap_patience = draw(2) == 0 ? 0 : draw(4);
        const uint superblocks = shape_->superblocks != 0 ? shape_->superblocks : 3 * threads + 2;
        heap_.init(superblocks, shape_->shift);
        for (kma_atomic_u32 &each : mail_)
            kma_store_u32(&each, 0, KMA_RELAXED);
        prelude();
        shim::plan_nap(threads);
    }

    void thread(uint me)
    {
        const uint rounds = shim::chosen.rounds ? shim::chosen.rounds : shim::is_model_checker ? 4 : 40;
        worker &mine = workers_[me];
        for (uint round = 0; round < rounds; round++)
            step(me, mine, kma_mix32((variant_ * 64 + me) * 64 + round));
        if (kma_mix32(variant_ + me) & 1)
            while (mine.held.count != 0)
                heap_.free(mine.held.pop(0));
    }

    void after()
    {
        block_list held = all_held();
        for (const block &each : held)
            heap_.check_contents(each);
        heap_.check_books(held);
        check_logs();

        const uint units_of_lone = shape_->kinds[draw(shape_->kind_count)];
        check_lone_caller(units_of_lone, held);
        free_all(held);
        const uint units_of_last = shape_->kinds[draw(shape_->kind_count)];
        shim::check(heap_.capacity(units_of_last) == heap_.superblocks() * heap_.slots_of(units_of_last),
                    "the freed heap has not its full capacity");
        check_lone_caller(units_of_last, held);
        check_wrong_frees();
        check_logs();
        shim::objects.destroy_all();
    }

private:
    static constexpr uint most_held = 3;

    struct worker {
        block_list held;
        uint made = 0;
        uint nulls = 0;
        uint invalids = 0;
    };

    // The scenario's own random numbers, of one execution: the same in a replay, and no choices for a search.
    uint draw(uint limit)
    {
        draw_ = kma_mix32(draw_ + 0x9e3779b9u);
        return draw_ % limit;
    }

    uint stamp(uint me, worker &mine) const { return (me + 1) << 10 | (++mine.made & 0x3ff); }

    void take(uint me, worker &mine, uint units, bool odd)
    {
        const bool aligned = odd && units % 2 == 0;
        const block got = heap_.alloc(units, stamp(me, mine), aligned ? 2 : 1, odd && !aligned ? 15 : 0);
        if (got.units != 0)
            return mine.held.push(got);
        mine.nulls++;
        shim::check(shape_->superblocks != 0, "NULL, though there always was a free superblock");
    }

    void step(uint me, worker &mine, uint choice)
    {
        const uint units = shape_->kinds[(choice >> 8) % shape_->kind_count];
        const uint which = choice >> 16;
        switch (choice % 16) {
        default:
            if (mine.held.count < most_held)
                return take(me, mine, units, (choice >> 12) % 2 != 0);
            [[fallthrough]];
        case 0:
        case 1:
        case 2:
        case 3:
        case 4:
            if (mine.held.count != 0)
                return heap_.free(mine.held.pop(which % mine.held.count));
            return take(me, mine, units, false);
        case 5:
        case 6:
            if (mine.held.count == 0)
                return;
            hand_on(mine, which);
            return;
        case 7:
        case 8:
            if (mine.held.count == most_held)
                return;
            receive(mine, which);
            return;
        case 9: // wrong frees, of places whose superblock my own block keeps as it is
            if (mine.held.count == 0)
                return;
            mine.invalids++;
            const block &one = mine.held.blocks[which % mine.held.count];
            if (one.units > 1 && which & 64)
                heap_.free_unit(one.first + 1);
            else
                heap_.free_inside(one);
            return;
        }
    }

    // Release and acquire: the block is the other's, with all that was done to it. Whoever gets it frees it, perhaps.
    void hand_on(worker &mine, uint which)
    {
        kma_atomic_u32 &box = mail_[which % std::size(mail_)];
        const block one = mine.held.pop((which >> 2) % mine.held.count);
        if (kma_cas_u32(&box, 0, one.word(), KMA_RELEASE) != 0)
            mine.held.push(one);
    }

    void receive(worker &mine, uint which)
    {
        const uint word = kma_exchange_u32(&mail_[which % std::size(mail_)], 0, KMA_ACQUIRE);
        if (word != 0)
            mine.held.push(block::from(word));
    }

    // Blocks for threads to begin with, the last ones rather, and holes between them.
    void prelude()
    {
        block_list blocks;
        const uint some = shape_->superblocks != 0 ? heap_.units + 2 : 2;
        for (uint left = shape_->fill != 0 ? shape_->fill : draw(some); left != 0; left--) {
            const uint units = shape_->kinds[shape_->fill != 0 ? 0 : draw(shape_->kind_count)];
            const block one = heap_.alloc(units, ++prelude_stamp_);
            if (one.units != 0)
                blocks.push(one);
            else
                heap_.nulls++;
        }
        for (uint left = shape_->ballast; left != 0; left--)
            ballast_.push(blocks.pop(draw(blocks.count)));
        uint next = draw(threads);
        while (blocks.count != 0) {
            const block one = blocks.pop(blocks.count - 1);
            worker &keeper = workers_[next++ % threads];
            if (keeper.held.count < 2 && draw(3) != 0)
                keeper.held.push(one);
            else
                heap_.free(one);
        }
    }

    block_list all_held()
    {
        block_list held = ballast_;
        for (worker &each : workers_)
            while (each.held.count != 0)
                held.push(each.held.pop(0));
        for (kma_atomic_u32 &box : mail_)
            if (const uint word = kma_load_u32(&box, KMA_RELAXED))
                held.push(block::from(word));
        return held;
    }

    void free_all(block_list &held)
    {
        while (held.count != 0)
            heap_.free(held.pop(draw(held.count)));
        heap_.check_books(held);
    }

    // Takes whatever a lone caller can get, which must be what is free, and gives it back.
    void check_lone_caller(uint units, block_list &held)
    {
        const uint expected = heap_.capacity(units);
        const uint others = held.count;
        for (uint n = 0; n < expected; n++) {
            const block one = heap_.alloc(units, ++prelude_stamp_);
            shim::check(one.units != 0, "a lone caller gets NULL though there is a free block");
            held.push(one);
        }
        shim::check(heap_.alloc(units, ++prelude_stamp_).units == 0, "more blocks than there are");
        heap_.nulls++;
        heap_.check_books(held);
        while (held.count > others)
            heap_.free(held.pop(held.count - 1));
        heap_.check_books(held);
    }

    // Alone: frees of a block that is free already, while its superblock has its class and after.
    void check_wrong_frees()
    {
        const uint units = shape_->kinds[0];
        const block one = heap_.alloc(units, 1);
        const block two = heap_.alloc(units, 2);
        block_list held;
        if (two.units != 0)
            held.push(two);
        else
            heap_.nulls++; // there is one block only
        heap_.free(one);
        heap_.free_unit(one.first);
        heap_.doubles++;
        heap_.free_in_front();
        heap_.invalids++;
        heap_.check_books(held);
        free_all(held);
    }

    void check_logs()
    {
        uint nulls = heap_.nulls, invalids = heap_.invalids;
        for (const worker &each : workers_) {
            nulls += each.nulls;
            invalids += each.invalids;
        }
        heap_.check_log(KMA_ERROR_OUT_OF_MEMORY, nulls, "the error log does not count the NULLs");
        heap_.check_log(KMA_ERROR_INVALID_FREE, invalids, "the error log does not count the invalid frees");
        heap_.check_log(KMA_ERROR_DOUBLE_FREE, heap_.doubles, "the error log does not count the double frees");
        for (const uint code : {KMA_ERROR_TOO_LARGE, KMA_ERROR_BAD_ALIGNMENT, KMA_ERROR_BAD_HEAP, KMA_ERROR_DAMAGED})
            heap_.check_log(code, 0, "the error log counts what did not happen");
    }

    superblock_heap heap_;
    worker workers_[threads];
    block_list ballast_;
    kma_atomic_u32 mail_[2];
    const heap_shape *shape_ = nullptr;
    uint variant_ = 0;
    uint draw_ = 0;
    uint prelude_stamp_ = 0;
};
