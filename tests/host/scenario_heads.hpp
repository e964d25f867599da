// The slab heap's heads, a few threads at a time, in a heap of a few lines and two places. Here sizes up to 32 units
// are small (slab_layout.cl), so that heads are asked for them before holes, and get slabs with holes, or new ones if a cursor
// leads to lines:
//
//   shares  a slab has holes; all take blocks of its size and give them back, so that it comes to heads, perhaps to
//   both, and
//           is taken off
//   mixes   the same, beside a slab of a size of which two blocks in a slab are equal, and no head may have that
//   again   one lane has read a head, its slab's header and owners, and sleeps; another takes all of that slab, which
//           takes it off the head, and ends it; then its lines become another slab of fewer slots, which comes to the
//           same head, with the same slot as the head's own. With threads alone one of them makes that slab, with the
//           same owners; in a group the lanes do, by one malloc together, and the first of them puts it to the head
//
// Checked: as in scenario_heap.hpp.
#pragma once

#define KMA_SL_SMALL_CLASSES 24u
#define KMA_SL_AMPLE_PLACES 2u
#include "slab_made.hpp"

template <uint threads> class scenario {
public:
    void before()
    {
        shim::is_lone = true;
        variant_ = shim::random(shim::chosen.bound != 0 ? 2u : 1u << 16);
        draw_ = variant_ * 0x9e3779b9u + 1;
        mode_ = draw(4);
        is_wide_ = threads > shim::group_lanes;
        slab_kind::vary(is_wide_ && mode_ >= again ? 2 : draw(3)); // 2: cursors lead to the slab's lines
        heap_.init(shape_);
        if (mode_ >= again)
            make(0, 3, 5, 1u << 2);
        else {
            make(0, 2, 4, draw(14) + 1);
            make_odd();
        }
        if (mode_ >= again && is_wide_)
            plan_to_sleep();
        else if (mode_ >= again && shim::chosen.bound == 0)
            shim::plan_nap_of(0, sleeper, shim::random(12), 100 + shim::random(300));
        else if (shim::chosen.bound == 0)
            shim::plan_nap(threads);
        shim::is_lone = false;
    }

    void thread(uint me)
    {
        if (mode_ >= again && is_wide_ && me < shim::group_lanes)
            return replace_together(me);
        if (mode_ >= again)
            return me == sleeper ? take_late(me) : me == 1 ? replace(me) : void();
        block_list &mine = held_[me];
        for (uint round = 0; round < 4; round++) {
            if (mine.count > 1 || (mine.count != 0 && draw_of(me) % 2 == 0))
                heap_.free(mine.pop(draw_of(me) % mine.count));
            const uint units = mode_ == mixes && draw_of(me) % 4 == 0 ? 17 : 16;
            if (const block one = heap_.alloc(units, stamp(me)); one.units != 0)
                mine.push(one);
        }
    }

    void after()
    {
        shim::is_lone = true;
        block_list living;
        for (block_list &each : held_)
            while (each.count != 0)
                living.push(each.pop(0));
        heap_.check_at_rest(living);
        for (const uint units : {16u, 17u, 64u}) { // what is free, and then all there is
            if (units == 64)
                while (living.count != 0)
                    heap_.free(living.pop(draw(living.count)));
            const uint kept = living.count;
            heap_.take_all(units, living);
            heap_.check_at_rest(living);
            while (living.count != kept)
                heap_.free(living.pop(living.count - 1));
            heap_.check_at_rest(living);
        }
        shim::objects.destroy_all();
    }

private:
    enum : uint { shares, mixes, again };
    static constexpr uint sleeper = threads > shim::group_lanes ? threads - 1 : 0;
    static constexpr heap_shape shape_{5, 6, 0, 0, 3, {16, 17, 64}};

    // The scenario's own random numbers, of one execution: the same in a replay, and no choices for a search.
    uint draw(uint limit)
    {
        draw_ = kma_mix32(draw_ + 0x9e3779b9u);
        return draw_ % limit;
    }
    uint draw_of(uint me) { return kma_mix32(variant_ * 64 + me * 8 + ++draws_[me]); }
    uint stamp(uint me) { return (me + 1) << 10 | ++stamps_[me]; }

    // A slab with slots of 16 units at a line of the heap; those that are taken are the threads', the others are holes.
    void make(uint line, uint lines, uint slots, uint taken)
    {
        const kma_sl_heap sl = kma_sl_open(heap_.in.heap);
        const uint first = heap_.in.first_line() + line;
        shim::check(kma_sl_take_lines(heap_.in.heap, first, lines), "no lines for a slab");
        kma_sl_make(&sl, first, lines, 16, slots, taken);
        kma_sl_tree_put(heap_.in.heap, kma_sl_class_of(16), first / KMA_SL_LINE);
        for (uint slot = 0; slot < slots; slot++)
            if ((taken >> slot & 1u) != 0)
                held_[1].push(heap_.adopt({line * KMA_SL_LINE + slot * 16, 16, ++prelude_stamp_}));
    }

    // Three lines with slots of 17 units, which are listed beside those of 16.
    void make_odd()
    {
        if (mode_ != mixes)
            return;
        const kma_sl_heap sl = kma_sl_open(heap_.in.heap);
        const uint first = heap_.in.first_line() + 2;
        shim::check(kma_sl_take_lines(heap_.in.heap, first, 3), "no lines for a slab");
        kma_sl_make(&sl, first, 3, 17, 4, 1u);
        kma_sl_tree_put(heap_.in.heap, kma_sl_class_within(17), first / KMA_SL_LINE);
        held_[0].push(heap_.adopt({2 * KMA_SL_LINE, 17, ++prelude_stamp_}));
    }

    uint late() const { return is_wide_ ? 40 + variant_ % 32 : variant_ % 64; }

    void take_late(uint me)
    {
        for (uint operations = late(); operations != 0; operations--) // so that the head has the slab by then
            kma_load_u32(&heap_.in.heap->seekers, KMA_RELAXED);
        if (const block one = heap_.alloc(16, stamp(me)); one.units != 0)
            held_[me].push(one);
    }

    // Takes the slab off its head and ends it.
    void end_slab(uint me)
    {
        block_list &mine = held_[1];
        for (uint taken = 1; taken < 5; taken++)
            if (const block one = heap_.alloc(16, stamp(me)); one.units != 0)
                mine.push(one);
        while (mine.count != 0)
            heap_.free(mine.pop(0));
    }

    void replace(uint me)
    {
        block_list &mine = held_[1];
        end_slab(me);
        const kma_sl_heap sl = kma_sl_open(heap_.in.heap);
        if (!kma_sl_take_lines(heap_.in.heap, heap_.in.first_line(), 2))
            return;
        kma_sl_make(&sl, heap_.in.first_line(), 2, 16, 4, 1u << 2);
        kma_sl_tree_put(heap_.in.heap, kma_sl_class_of(16), heap_.in.first_line() / KMA_SL_LINE);
        mine.push(heap_.adopt({2 * 16, 16, stamp(me)}));
        for (uint taken = 0; taken < 2; taken++)
            if (const block one = heap_.alloc(16, stamp(me)); one.units != 0)
                mine.push(one);
    }

    // A lane of the group: the second one ends the slab, all take one together, and all but the last one free their blocks.
    void replace_together(uint me)
    {
        if (me == 1)
            end_slab(me);
        kma_lanes_sync(KMA_LANES_ALL);
        if (const block one = heap_.alloc(16, stamp(me)); one.units != 0)
            held_[me].push(one);
        kma_lanes_sync(KMA_LANES_ALL);
        if (me != shim::group_lanes - 1 && held_[me].count != 0)
            heap_.free(held_[me].pop(0));
        kma_lanes_sync(KMA_LANES_ALL);
        if (me != 0)
            return;
        if (const block one = heap_.alloc(16, stamp(me)); one.units != 0)
            held_[me].push(one);
    }

    // Before the slab's owners are set, and before the look at the head that follows.
    void plan_to_sleep() const
    {
        const uint looks = late() + 1 + shim::random(3);
        shim::plan_nap_of(0, sleeper, looks, 60 + shim::random(100));
        shim::plan_nap_of(1, sleeper, looks + 1 + shim::random(3), 50 + shim::random(300));
    }

    tiny_heap<slab_kind> heap_;
    block_list held_[max(threads, 3u)];
    uint stamps_[threads] = {}, draws_[threads] = {};
    uint mode_ = 0, variant_ = 0, draw_ = 0, prelude_stamp_ = 0;
    bool is_wide_ = false;
};
