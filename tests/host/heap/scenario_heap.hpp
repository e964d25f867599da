// Any kind of heap: threads on a tiny heap, from states that a lone prelude has led to, take, resize, hold, hand on and
// free blocks of mixed sizes, or do something wrong; lanes of a group ask two heaps at once, and sit out by chance.
//
// Checked: no two owners of a unit at a time, and each ordered after the one before (plain fields); contents; the
// error log counts every NULL and every wrong free; and at rest all books of the kind, that a lone caller gets all that
// is free, and, once everything is freed, that the heap has its full capacity for each size.
#pragma once

#include "heap/tiny_heap.hpp"

// The scenario for the heap of the list in CMakeLists.txt that this executable is for.
#ifdef KMA_HOST_HEAP_FILE
#include KMA_HOST_HEAP_FILE
#endif

template <class Kind, uint threads, const auto &shapes> class heap_threads {
public:
    void before()
    {
        shim::is_lone = true;
        variant_ = shim::random(shim::chosen.bound != 0 ? Kind::searched : 1u << 20);
        if constexpr (requires { Kind::searched_variants; })
            if (shim::chosen.bound != 0)
                variant_ = Kind::searched_variants[variant_];
        draw_ = variant_ * 0x9e3779b9u + 1;
        shape_ = shapes[draw(std::size(shapes))];
        scarce_ = shape_.count != 0;
        if (!scarce_)
            shape_.count = Kind::roomy(threads);
        Kind::vary(draw(2) == 0 ? 0 : draw(4));
        heaps_ = draw(3) == 0 && shim::chosen.bound == 0 ? 2 : 1;
        for (uint which = 0; which < heaps_; which++)
            heap_[which].init(shape_);
        for (kma_atomic_u32 &each : mail_)
            kma_store_u32(&each, 0, KMA_RELAXED);
        prelude();
        shim::plan_nap(threads);
        shim::is_lone = false;
    }

    void thread(uint me)
    {
        const uint rounds = shim::chosen.rounds       ? shim::chosen.rounds
                            : shim::chosen.bound != 0 ? Kind::searched_rounds
                                                      : Kind::rounds;
        worker &mine = workers_[me];
        for (uint round = 0; round < rounds; round++)
            step(me, mine, kma_mix32((variant_ * 64 + me) * 64 + round));
        if (kma_mix32(variant_ + me) & 1)
            while (mine.held.count != 0)
                heap_[0].free(mine.held.pop(0));
    }

    void after()
    {
        shim::is_lone = true;
        for (uint which = 0; which < heaps_; which++) {
            shim::begin_call(); // operations are limited, and four walks through a heap take half of that
            tiny_heap<Kind> &heap = heap_[which];
            block_list living = all_living(which);
            heap.check_at_rest(living);
            heap.check_lone_caller(shape_.kinds[draw(shape_.kind_count)], living);
            while (living.count != 0)
                heap.free(living.pop(draw(living.count)));
            heap.check_at_rest(living);
            heap.check_lone_caller(shape_.kinds[draw(shape_.kind_count)], living);
            if constexpr (Kind::checks_frees)
                check_wrong_frees(heap);
        }
        shim::objects.destroy_all();
    }

private:
    static constexpr uint most_held = 3;

    struct worker {
        block_list held; // of the first heap
        block_list kept; // of the second, until the end
        uint made = 0;
    };

    // The scenario's own random numbers, of one execution: the same in a replay, and no choices for a search.
    uint draw(uint limit)
    {
        draw_ = kma_mix32(draw_ + 0x9e3779b9u);
        return draw_ % limit;
    }

    uint stamp(uint me, worker &mine) const { return (me + 1) << 10 | (++mine.made & 0x3ff); }

    void take(uint me, worker &mine, uint which, uint units, uint how)
    {
        const uint align = how % 4 == 1 && units % 4 == 0 ? 4 : how % 4 == 1 && units % 2 == 0 ? 2 : 1;
        const uint less = how % 4 == 1 && align == 1 ? 15 : 0;
        const block got = heap_[which].alloc(units, stamp(me, mine), align, less, how % 4 == 2);
        if (got.units != 0)
            (which == 0 ? mine.held : mine.kept).push(got);
        else
            shim::check(scarce_, "NULL, though there always was room");
    }

    // One of sixteen things to do. A thread that has nothing to do it with sits out, so that lanes diverge.
    void step(uint me, worker &mine, uint choice)
    {
        const uint units = shape_.kinds[(choice >> 8) % shape_.kind_count];
        const uint which = choice >> 16;
        const uint how = choice >> 12;
        switch (choice % 16) {
        default:
            if (heaps_ == 2 && (which & 3) == 0 && mine.kept.count < most_held)
                return take(me, mine, 1, units, how);
            if (mine.held.count < most_held)
                return take(me, mine, 0, units, how);
            [[fallthrough]];
        case 0:
        case 1:
        case 2:
        case 3:
            if (heaps_ == 2 && (which & 0x30) == 0 && mine.kept.count != 0)
                return heap_[1].free(mine.kept.pop(0));
            if (mine.held.count != 0)
                return heap_[0].free(mine.held.pop(which % mine.held.count));
            return take(me, mine, 0, units, 0);
        case 4:
            if (mine.held.count != 0)
                resize(me, mine, which % mine.held.count, units);
            return;
        case 5:
            if (mine.held.count != 0)
                hand_on(mine, which);
            return;
        case 6:
            if (mine.held.count < most_held)
                receive(mine, which);
            return;
        case 7:
            if (which % 4 == 0)
                return heap_[0].ask_for_nothing(which >> 2);
            if constexpr (Kind::checks_frees)
                if (mine.held.count != 0)
                    heap_[0].free_wrongly(mine.held.blocks[(which >> 1) % mine.held.count], which & 1);
            return;
        }
    }

    void resize(uint me, worker &mine, uint which, uint units)
    {
        const block moved = heap_[0].resize(mine.held.blocks[which], units, stamp(me, mine));
        if (moved.units != 0)
            mine.held.blocks[which] = moved;
        else
            shim::check(scarce_, "a block cannot grow, though there always was room");
    }

    // Release and acquire: the block is the other's, with all that was done to it. Its next owner may free it.
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

    // Blocks for threads to begin with, the last ones rather, and holes between them. Of what is never reused not much.
    void prelude()
    {
        block_list blocks;
        const uint least = *std::min_element(shape_.kinds, shape_.kinds + shape_.kind_count);
        const uint some = !scarce_ || !Kind::reuses ? 2 : heap_[0].in.units() / least + 2;
        for (uint left = shape_.fill != 0 ? shape_.fill : draw(some); left != 0; left--) {
            const uint units = shape_.kinds[shape_.fill != 0 ? 0 : draw(shape_.kind_count)];
            const block one = heap_[0].alloc(units, ++prelude_stamp_);
            if (one.units != 0)
                blocks.push(one);
        }
        for (uint left = shape_.ballast; left != 0; left--)
            ballast_.push(blocks.pop(draw(blocks.count)));
        uint next = draw(threads);
        while (blocks.count != 0) {
            const block one = blocks.pop(blocks.count - 1);
            worker &keeper = workers_[next++ % threads];
            if (keeper.held.count < 2 && draw(3) != 0)
                keeper.held.push(one);
            else
                heap_[0].free(one);
        }
    }

    block_list all_living(uint which)
    {
        block_list all;
        for (worker &each : workers_)
            all.take(which == 0 ? each.held : each.kept);
        if (which != 0)
            return all;
        all.take(ballast_);
        for (kma_atomic_u32 &box : mail_)
            if (const uint word = kma_load_u32(&box, KMA_RELAXED))
                all.push(block::from(word));
        return all;
    }

    // Alone: frees of a block that is free already, while its neighbour still has a block.
    void check_wrong_frees(tiny_heap<Kind> &heap)
    {
        const uint units = shape_.kinds[0];
        const block one = heap.alloc(units, 1);
        const block two = heap.alloc(units, 2); // none if there is room for one only
        block_list living;
        if (two.units != 0)
            living.push(two);
        heap.free(one);
        heap.free_again(one);
        heap.free_in_front();
        heap.check_at_rest(living);
        if (two.units != 0)
            heap.free(living.pop(0));
        heap.check_at_rest(living);
    }

    tiny_heap<Kind> heap_[2];
    worker workers_[threads];
    block_list ballast_;
    kma_atomic_u32 mail_[2];
    heap_shape shape_{};
    uint heaps_ = 1;
    bool scarce_ = true;
    uint variant_ = 0;
    uint draw_ = 0;
    uint prelude_stamp_ = 0;
};

#ifdef KMA_HOST_HEAP
template <uint threads> class scenario : public heap_threads<KMA_HOST_HEAP, threads, KMA_HOST_HEAP::shapes> {
};
#endif
