// The slab heap where memory changes hands, in heaps of one to five frames. All blocks of a page, a slab or a run are
// the threads', so that their last frees come together, and each thread then asks for what the others' memory must
// become:
//
//   pages   the last blocks of a page, in different line words; others claim slots of its class, or need its frame
//   spares  pages without blocks that are kept, and end while slots of them are claimed
//   lists   full pages and slabs: a free of the first slot, while others find them without one
//   lines   slabs of a frame that give lines back, while others claim some of another number
//   runs    whole frames that several threads claim at the same time
//   teams   a group has taken two slabs; each lane frees a block of one of them, or of neither
//
// Checked: as in scenario_heap.hpp.
#pragma once

#include "options.hpp"

#if KMA_SHIM_FENCED
#define KMA_SLAB_NARROW
#endif
#include "heap/slab/heap.hpp"

template <uint threads> class scenario {
public:
    void before()
    {
        shim::is_lone = true;
        variant_ = shim::random(shim::chosen.bound != 0 ? 4u : 1u << 16);
        draw_ = variant_ * 0x9e3779b9u + 1;
        mode_ = &modes[shim::chosen.bound != 0 ? searched[variant_] : draw(std::size(modes))];
        slab_kind::vary(draw(3));
        slab_paged = mode_->paged;
        slab_spare = mode_->spare;
        heap_.init(mode_->shape);
        ready_ = 0;
        block_list blocks;
        const uint fill =
            mode_->fill != 0 ? mode_->fill : 1 + draw(mode_->shape.count * 16 / mode_->shape.kinds[0] + 1);
        for (uint left = fill; left != 0; left--)
            if (const block one = heap_.alloc(mode_->shape.kinds[0], ++prelude_stamp_); one.units != 0)
                blocks.push(one);
        const uint kept = shim::chosen.bound != 0 ? 2 : draw(3) != 0 ? actors : draw(blocks.count + 1);
        while (blocks.count > kept)
            heap_.free(blocks.pop(draw(blocks.count)));
        for (uint next = shim::chosen.bound != 0 ? 0 : draw(actors); blocks.count != 0; next++)
            held_[next % actors].push(blocks.pop(blocks.count - 1));
        if (shim::chosen.bound == 0 && draw(2) == 0) // in the midst of its first call
            shim::plan_nap_of(shim::random(actors), shim::random(24), 20 + shim::random(150));
        else
            shim::plan_nap(threads);
        shim::is_lone = false;
    }

    void thread(uint me)
    {
        if (threads > shim::group_lanes && variant_ % 4 == 0)
            return use_teams(me);
        if (me >= actors)
            return;
        block_list &mine = held_[me];
        if (shim::chosen.bound != 0)
            return search(me, mine);
        const uint left = draw_of(me) % 8 == 0 ? 1 : 0;
        while (mine.count > left)
            heap_.free(mine.pop(draw_of(me) % mine.count));
        for (uint round = 0; round < 2; round++) {
            const uint kind = (me + draw_of(me) % 2) % mode_->shape.kind_count;
            const block one = heap_.alloc(mode_->shape.kinds[kind], stamp(me));
            if (one.units == 0)
                continue;
            if (draw_of(me) % 3 == 0)
                mine.push(one);
            else
                heap_.free(one);
        }
    }

    void after()
    {
        shim::is_lone = true;
        block_list living;
        for (block_list &each : held_)
            living.take(each);
        heap_.check_at_rest(living);
        for (uint kind = 0; kind < mode_->shape.kind_count; kind++) { // what is free, and then all there is
            while (kind == 1 && living.count != 0)
                heap_.free(living.pop(draw(living.count)));
            heap_.check_lone_caller(mode_->shape.kinds[kind], living);
        }
        shim::objects.destroy_all();
    }

private:
    struct mode {
        heap_shape shape;
        uint paged, spare;
        uint fill; // blocks before the threads begin; 0: any number
    };
    static constexpr uint actors = min(threads, 3u);
    static constexpr mode modes[] = {
        {{4, 1, 0, 0, 3, {2, 2, 16}}, 1, 1, 8},   {{4, 1, 0, 0, 3, {1, 1, 2}}, 1, 1, 16},
        {{4, 1, 0, 0, 3, {2, 1, 16}}, 1, 1, 4},   {{4, 2, 0, 0, 3, {1, 2, 16}}, 1, 1, 0},
        {{4, 2, 0, 0, 3, {2, 2, 20}}, 1, 0, 8},   {{4, 2, 0, 0, 3, {2, 1, 32}}, 1, 0, 3},
        {{4, 3, 0, 0, 3, {2, 40, 2}}, 1, 1, 0},   {{4, 1, 0, 0, 3, {1, 1, 4}}, 1, 0, 16},
        {{4, 2, 0, 0, 3, {2, 2, 2}}, 1, 1, 16},   {{4, 1, 0, 0, 3, {2, 2, 3}}, 9, 1, 8},
        {{4, 1, 0, 0, 3, {1, 2, 1}}, 9, 1, 0},    {{4, 2, 0, 0, 3, {1, 1, 1}}, 9, 1, 32},
        {{4, 2, 0, 0, 3, {4, 8, 4}}, 1, 1, 0},    {{4, 1, 0, 0, 3, {3, 9, 16}}, 1, 1, 0},
        {{4, 2, 0, 0, 3, {5, 12, 4}}, 1, 1, 0},   {{4, 4, 0, 0, 3, {20, 36, 40}}, 1, 1, 0},
        {{4, 5, 0, 0, 3, {16, 24, 20}}, 1, 1, 0}, {{4, 4, 0, 0, 3, {32, 32, 28}}, 1, 1, 2},
    };
#ifdef KMA_SLAB_NARROW // more words, and so more schedules
    static constexpr uint searched[] = {4, 5, 9, 7};
#else
    static constexpr uint searched[] = {2, 5, 9, 17};
#endif

    // The scenario's own random numbers, of one execution: the same in a replay, and no choices for
    // a search.
    uint draw(uint limit)
    {
        draw_ = kma_mix32(draw_ + 0x9e3779b9u);
        return draw_ % limit;
    }
    uint draw_of(uint me)
    {
        return kma_mix32(variant_ * 64 + me * 8 + ++draws_[me]);
    }
    uint stamp(uint me)
    {
        return (me + 1) << 10 | ++stamps_[me];
    }

    // Two free what they have, the second one asks for what may be the first one's then.
    void search(uint me, block_list &mine)
    {
        while (me < 2 && mine.count != 0)
            heap_.free(mine.pop(0));
        if (me == 1)
            if (const block one = heap_.alloc(mode_->shape.kinds[variant_ % 2 == 0 ? 2 : 0], stamp(me)); one.units != 0)
                mine.push(one);
    }

    // Lanes take together as far as they meet, and free in turn what was the first or the second,
    // or their oldest; some what is no block, or, if nobody takes any more, what is free already.
    void use_teams(uint me)
    {
        block_list &mine = held_[me];
        for (uint round = 0; round < 2; round++)
            for (uint which = 0; which < 2; which++)
                if (const uint kind = variant_ % 8 == 0 ? which : draw_of(me) % 3; mine.count < 4)
                    if (const block one = heap_.alloc(mode_->shape.kinds[kind], stamp(me)); one.units != 0)
                        mine.push(one);
        const bool waits = variant_ % 16 == 0;
        for (ready_++; waits && ready_ != threads;) // until all have taken what they take
            shim::pause();
        while (mine.count != 0) {
            if (draw_of(me) % 8 == 0) // inside a line: the words of a slot's other lines are any
                heap_.free_wrongly(mine.blocks[mine.count - 1], draw_of(me) % 2 == 0 && KMA_SLAB_LINE_UNITS > 1);
            const block one = mine.pop(draw_of(me) % 4 != 0 ? mine.count - 1 : 0);
            heap_.free(one);
            if (waits && draw_of(me) % 3 == 0)
                heap_.free_again_beside_others(one);
        }
    }

    tiny_heap<slab_kind> heap_;
    block_list held_[threads];
    uint draws_[threads] = {}, stamps_[threads] = {};
    const mode *mode_ = nullptr;
    uint variant_ = 0;
    uint draw_ = 0;
    uint prelude_stamp_ = 0;
    std::atomic<uint> ready_ = 0; // threads that take no more; orders nothing
};
