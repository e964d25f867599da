// The slab heap where a slab ends while others look at it, a few threads at a time, in heaps of a few lines:
//
//   ends    all lines are slabs of one size; two free the last blocks, piece by piece or together, another wants blocks
//           of that size, which he finds as holes, and of one that needs the lines
//   heads   a head has a slab of which few slots, or none but its own, are taken; they take from it and give back,
//           until it is taken off; another needs its lines
//   packs   lanes take one slab together; some give theirs back and get it again alone; then all free theirs, together
//           as far as they meet
//   planes  a slab whose slots have different sizes, as 32 lanes get it, is freed piece by piece, and its holes filled;
//           or one has lines where another slab was, and makes one of them as lanes together do; others fill its holes
//   aliens  one has read a head and its slab's owners, and sleeps; another takes all of that slab, so that it is taken
//           off, ends it, and makes of its lines another with the same owners: the first one's bits are in a slab that
//           no head has, whose owner may end it meanwhile; that one is a lane's alone, or two lanes' together
//   data    one has read the owners of a slab of 32 slots with holes, and sleeps; another ends it, and its line's word
//           becomes a header that is the same number
//   unpins  one has looked for holes in vain, and sleeps before he looks for slabs that were closed meanwhile; another
//           has pinned the chunk since, and chosen a hole; a third ends the slab, and makes another of its lines; or it
//           is the third who sleeps, while the chunk that nobody had pinned is pinned
//   undoes  as aliens; while the first one clears his bits again, that other slab ends, too, and the line behind its
//   first
//           becomes a slab's first
//   hides   as aliens; while the first one's bit is in that other slab, of fewer slots, this has its first hole
//   refills one has pinned a chunk and read the owners of a slab with a hole, and sleeps; another fills that hole, all
//   who
//           have its blocks free them together, and one makes of its lines another slab with the owners that were read
//   frees   two free the same block, a third its neighbour in the same slab: each is free once, and one is told
//
// Checked: as in scenario_heap.hpp.
#pragma once

#include "slab_made.hpp"

template <uint threads> class scenario {
public:
    void before()
    {
        shim::is_lone = true;
        variant_ = shim::random(shim::chosen.bound != 0 ? 2u : 1u << 16);
        draw_ = variant_ * 0x9e3779b9u + 1;
        is_wide_ = threads > shim::group_lanes;
        mode_ = draw(is_wide_ ? 20 : 16);
        mode_ = mode_ <= refills_again ? mode_ : aliens_again; // which takes many schedules
        const uint which = draw(std::size(shapes));
        shape_ = is_fresh()        ? heap_shape{5, 6, 0, 0, 3, {18, 1, 40}}
                 : mode_ == planes ? heap_shape{5, 6, 0, 0, 3, {3, 1, 40}}
                 : mode_ >= undoes ? heap_shape{5, 2, 0, 0, 3, {16, 24, 1}}
                 : mode_ >= unpins ? heap_shape{5, 2, 0, 0, 3, {16, 24, 36}}
                 : mode_ >= data   ? heap_shape{5, 2, 0, 0, 3, {1, 36, 2}}
                 : mode_ >= aliens ? heap_shape{5, 2, 0, 0, 3, {16, 36, 24}}
                                   : shapes[which];
        slab_kind::vary(draw(3));
        heap_.init(shape_);
        block_list blocks;
        if (is_fresh())
            take_lines_again();
        else if (mode_ == planes)
            take_planes(blocks);
        else if (mode_ >= refills)
            take_three();
        else if (mode_ == unpins || mode_ == unpins_again)
            take_two(held_[1]);
        else if (mode_ == data || mode_ == data_again)
            take_fine(held_[1]);
        else if (mode_ >= aliens) { // a head has a slab with four slots, the first of which is its own
            held_[1].push(heap_.alloc(16, ++prelude_stamp_));
            if (!is_replaced_together() && mode_ != hides)
                heap_.free(held_[1].pop(0));
        } else if (mode_ == heads || mode_ == packs)
            take(blocks, draw(3));
        else
            heap_.take_all(shape_.kinds[0], blocks);
        share(blocks, mode_ == frees ? 2 : draw(2) == 0 ? blocks.count : draw(actors + 2));
        add_seekers(seekers());
        if (mode_ >= aliens && shim::chosen.bound == 0)
            plan_to_sleep();
        else if (shim::chosen.bound == 0)
            shim::plan_nap(threads);
        shim::is_lone = false;
    }

    void thread(uint me)
    {
        if (mode_ == frees)
            return free_same(me);
        if (is_fresh() && me == 1)
            return make_fresh(me);
        if (mode_ >= refills)
            return me < shim::group_lanes ? refill(me) : take_from_head(me);
        if (mode_ == hides)
            return me == 1 ? hide_hole(me) : take_from_head(me);
        if (mode_ == undoes)
            return me == 1 ? replace_twice(me) : take_from_head(me);
        if (mode_ >= unpins)
            return me == 1 ? replace_two(me) : look_for_hole(me);
        if (is_replaced_together())
            return me < shim::group_lanes ? replace_together(me) : take_from_head(me);
        if (mode_ >= aliens)
            return me == 1 ? (mode_ >= data ? replace_by_data(me) : replace_slab(me)) : take_from_head(me);
        if (mode_ == packs || (is_wide_ && me < shim::group_lanes && variant_ % 4 == 0))
            return use_pack(me);
        block_list &mine = held_[me];
        while (mine.count != 0)
            heap_.free(mine.pop(draw_of(me) % mine.count));
        for (uint round = 0; round < 3; round++) {
            const block one = heap_.alloc(shape_.kinds[(me + draw_of(me) % 2) % shape_.kind_count], stamp(me));
            if (one.units == 0)
                continue;
            heap_.check_contents(one);
            if (round == 2)
                mine.push(one);
            else
                heap_.free(one);
        }
    }

    void after()
    {
        shim::is_lone = true;
        block_list living;
        add_seekers(0 - seekers());
        if (mode_ == frees)
            held_[0].count = 0;
        for (block_list &each : held_)
            while (each.count != 0)
                living.push(each.pop(0));
        heap_.check_at_rest(living);
        for (uint kind = 0; kind < shape_.kind_count; kind++) { // what is free, and then all there is
            if (kind == 1)
                while (living.count != 0)
                    heap_.free(living.pop(draw(living.count)));
            const uint kept = living.count;
            heap_.take_all(shape_.kinds[kind], living);
            heap_.check_at_rest(living);
            while (living.count != kept)
                heap_.free(living.pop(living.count - 1));
            heap_.check_at_rest(living);
        }
        shim::objects.destroy_all();
    }

private:
    enum : uint {
        ends,
        ends_again,
        ends_late,
        heads,
        heads_again,
        packs,
        planes,
        frees,
        aliens,
        aliens_again,
        data,
        data_again,
        unpins,
        unpins_again,
        undoes,
        hides,
        refills, // this and more: with a group of lanes only
        refills_again
    };
    static constexpr uint actors = min(threads, 3u);
    static constexpr uint sleeper = threads > shim::group_lanes ? threads - 1 : 0;
    static constexpr heap_shape shapes[] = {
        {5, 2, 0, 0, 3, {16, 40, 16}}, {5, 2, 0, 0, 3, {8, 16, 8}},     {5, 4, 0, 0, 3, {32, 16, 64}},
        {5, 4, 0, 0, 3, {16, 16, 33}}, {5, 2, 0, 0, 2, {20, 16}},       {5, 3, 0, 0, 3, {16, 1, 24}},
        {5, 4, 0, 0, 3, {30, 60, 8}},  {5, 12, 0, 0, 3, {90, 24, 180}},
    };

    // The scenario's own random numbers, of one execution: the same in a replay, and no choices for a search.
    uint draw(uint limit)
    {
        draw_ = kma_mix32(draw_ + 0x9e3779b9u);
        return draw_ % limit;
    }
    uint draw_of(uint me) { return kma_mix32(variant_ * 64 + me * 8 + ++draws_[me]); }
    uint stamp(uint me) { return (me + 1) << 10 | ++stamps_[me]; }

    void take(block_list &blocks, uint count)
    {
        for (; count != 0; count--)
            if (const block one = heap_.alloc(shape_.kinds[0], ++prelude_stamp_); one.units != 0)
                blocks.push(one);
        if (draw(2) == 0) // a head with a slab whose blocks are free
            while (blocks.count > 1)
                heap_.free(blocks.pop(0));
    }

    // As 32 lanes take it together, of 1 to 4 units, or, with a header, without lane 31, of up to 7.
    void take_planes(block_list &blocks)
    {
        const bool is_small = variant_ % 2 != 0;
        uint sizes[KMA_SL_SLOTS];
        for (uint slot = 0; slot < KMA_SL_SLOTS; slot++)
            sizes[slot] = is_small ? 1 + draw(3) : slot == KMA_SL_SLOTS - 1 ? draw(2) : draw(3) * 3;
        const made_slab made =
            make_planes(heap_.in.heap, heap_.in.first_line(), sizes, is_small ? slab_sizes::small : slab_sizes::plain);
        for (uint slot = 0; slot < KMA_SL_SLOTS; slot++)
            if (sizes[slot] != 0)
                blocks.push(heap_.adopt({made.offsets[slot], sizes[slot], ++prelude_stamp_}));
    }

    // `kept` of the blocks are the threads', the others are free.
    void share(block_list &blocks, uint kept)
    {
        while (blocks.count > kept)
            heap_.free(blocks.pop(draw(blocks.count)));
        for (uint next = draw(actors); blocks.count != 0; next++) {
            const uint last = mode_ == frees ? 0 : next % actors;
            held_[last].push(blocks.pop(blocks.count - 1));
        }
    }

    // Others who look at all of the heap: only one more may.
    uint seekers() const { return mode_ <= ends_late && variant_ % 8 == 5 ? KMA_SL_SEEKERS - 1 : 0; }
    void add_seekers(uint count)
    {
        if (count != 0)
            kma_fetch_add_u32(&heap_.in.heap->seekers, count, KMA_RELAXED);
    }

    bool is_fresh() const { return mode_ == planes && variant_ % 4 >= 2; }

    // Lines of the second thread's, where a slab with slots of 19 units was.
    void take_lines_again()
    {
        const kma_sl_heap sl = kma_sl_open(heap_.in.heap);
        const uint first = heap_.in.first_line();
        shim::check(kma_sl_take_lines(heap_.in.heap, first, 2), "no lines for a slab");
        kma_store_u32(kma_sl_word(&sl, first + 1), kma_sl_equal_header(19, 3), KMA_RELAXED);
    }

    // A slab with slots of 18 units, a hole of which serves the same requests.
    void make_fresh(uint me)
    {
        const kma_sl_heap sl = kma_sl_open(heap_.in.heap);
        const uint first = heap_.in.first_line();
        block_list mine;
        for (uint slot = 0; slot < 3; slot++)
            mine.push(heap_.adopt({slot * 18, 18, stamp(me)}));
        kma_store_u32(kma_sl_word(&sl, first + 1), kma_sl_equal_header(18, 3), KMA_RELAXED);
        kma_store_u32(kma_sl_word(&sl, first), 7u, KMA_RELEASE);
        kma_sl_put_mark(&sl, first, KMA_SL_MARK_HEADER);
        while (mine.count != 0) {
            heap_.free(mine.pop(mine.count == 3 ? 1 : 0));
            come_later(variant_ / 4 % 64);
        }
    }

    // In the order of lanes, so that their blocks are one slab's.
    void use_pack(uint me)
    {
        for (uint round = 0; round < 2; round++) {
            block mine = heap_.alloc(shape_.kinds[0], stamp(me));
            if (mine.units == 0)
                continue;
            if (draw_of(me) % 4 == 0) {
                heap_.free(mine);
                mine = heap_.alloc(shape_.kinds[draw_of(me) % 4 == 0 ? 1 : 0], stamp(me));
            }
            if (mine.units != 0)
                heap_.free(mine);
        }
    }

    // In the midst of its request, in which it does a few things before it looks at owners and sets bits.
    void plan_to_sleep() const
    {
        const uint few = shim::random(threads > shim::group_lanes ? 8 : 4) + shim::random(2) * shim::random(20);
        if (is_replaced_together() && variant_ % 4 != 0) // about when he has read the owners
            return shim::plan_nap_of(0, sleeper, 1 + shim::random(4), 100 + shim::random(500));
        if (mode_ < unpins)
            return shim::plan_nap_of(0, sleeper, few, 48 + shim::random(200));
        if (mode_ >= refills)
            return shim::plan_nap_of(0, sleeper, 4 + shim::random(24), 100 + shim::random(400));
        if (mode_ == undoes || mode_ == hides) {
            shim::plan_nap_of(0, sleeper, few, 150 + shim::random(400));
            return shim::plan_nap_of(1, sleeper, few + 2 + shim::random(4), 50 + shim::random(200));
        }
        shim::plan_nap_of(0, sleeper, late() + 8 + shim::random(10), 100 + shim::random(200));
        if (is_buried_late())
            return shim::plan_nap_of(1, 1, early() + 14 + shim::random(10), 30 + shim::random(100));
        shim::plan_nap_of(1, 2, 20 + shim::random(16), 50 + shim::random(100));
    }

    void take_from_head(uint me)
    {
        if (me == 2 && mode_ == aliens && variant_ % 4 == 1)
            return take_runs(me);
        if (me != sleeper && (me != 2 || variant_ % 4 != 0))
            return;
        if (const block one = heap_.alloc(shape_.kinds[0], stamp(me)); one.units != 0)
            heap_.free(one);
    }

    // A slab of 32 slots at the second line, whose owners are the header of a slab with one slot of 36 units.
    void take_fine(block_list &blocks)
    {
        const kma_sl_heap sl = kma_sl_open(heap_.in.heap);
        const uint first = heap_.in.first_line() + 1;
        shim::check(kma_sl_take_lines(heap_.in.heap, first, 1), "no line for a slab");
        kma_sl_make(&sl, first, 1, 1, KMA_SL_SLOTS, ~0u);
        for (uint slot = 0; slot < KMA_SL_SLOTS; slot++) {
            const block one = heap_.adopt({KMA_SL_LINE + slot, 1, ++prelude_stamp_});
            if ((kma_sl_equal_header(36, 1) >> slot & 1u) != 0)
                blocks.push(one);
            else
                heap_.free(one);
        }
    }

    void replace_by_data(uint me)
    {
        block_list &mine = held_[1];
        while (mine.count != 0)
            heap_.free(mine.pop(draw_of(me) % mine.count));
        for (uint round = 0; round < 2; round++)
            if (const block one = heap_.alloc(36, stamp(me)); one.units != 0)
                heap_.free(one);
    }

    // Two slots of the four of a slab; a tree tells wrongly of a hole of another class.
    void take_two(block_list &blocks)
    {
        const kma_sl_heap sl = kma_sl_open(heap_.in.heap);
        const uint first = heap_.in.first_line();
        shim::check(kma_sl_take_lines(heap_.in.heap, first, 2), "no lines for a slab");
        kma_sl_make(&sl, first, 2, 16, 4, 7u);
        kma_sl_let_go(heap_.in.heap, first, 4u, true);
        for (uint slot = 0; slot < 2; slot++)
            blocks.push(heap_.adopt({slot * 16, 16, ++prelude_stamp_}));
        kma_sl_tree_put(heap_.in.heap, kma_sl_class_of(36), first / KMA_SL_LINE);
    }

    // Three slots of the four of a slab, one for each of three lanes.
    void take_three()
    {
        const kma_sl_heap sl = kma_sl_open(heap_.in.heap);
        const uint first = heap_.in.first_line();
        shim::check(kma_sl_take_lines(heap_.in.heap, first, 2), "no lines for a slab");
        kma_sl_make(&sl, first, 2, 16, 4, 15u);
        kma_sl_let_go(heap_.in.heap, first, 8u, true);
        for (uint lane = 0; lane < 3; lane++)
            held_[lane].push(heap_.adopt({lane * 16, 16, ++prelude_stamp_}));
    }

    // The lanes of a group: the last one takes the hole, all free what they have, and the first one makes a slab of 32
    // small slots there, the first three of which are taken.
    void refill(uint me)
    {
        const uint last = shim::group_lanes - 1;
        block_list &mine = held_[me];
        if (me == last) {
            come_later(variant_ % 64);
            if (const block one = heap_.alloc(shape_.kinds[0], stamp(me)); one.units != 0)
                mine.push(one);
        }
        kma_lanes_sync(KMA_LANES_ALL);
        while (mine.count != 0)
            heap_.free(mine.pop(0));
        const kma_sl_heap sl = kma_sl_open(heap_.in.heap);
        const uint first = heap_.in.first_line();
        if (me != 0 || !kma_sl_take_lines(heap_.in.heap, first, 1))
            return;
        kma_sl_make(&sl, first, 1, 1, KMA_SL_SLOTS, 15u);
        for (uint slot = 0; slot < 3; slot++)
            mine.push(heap_.adopt({slot, 1, stamp(me)}));
        kma_sl_let_go(heap_.in.heap, first, 8u, true); // so that the free ones are listed
        come_later(variant_ / 64 % 128);
        while (mine.count != 0)
            heap_.free(mine.pop(0));
    }

    // One of the class, who may sleep before he sets a bit; one of the other.
    void look_for_hole(uint me)
    {
        if (me != sleeper && (me != 2 || is_buried_late()))
            return;
        if (me == sleeper)
            come_later(late()); // when the other has looked
        if (const block one = heap_.alloc(shape_.kinds[me == sleeper ? 0 : 2], stamp(me)); one.units != 0)
            heap_.free(one);
    }

    uint late() const { return 16 + variant_ % 32; }

    // Who ends the slab sleeps when he has seen that nobody has pinned it, and before he gives back its lines.
    bool is_buried_late() const { return mode_ == unpins_again && variant_ / 1024 % 2 != 0; }
    uint early() const { return variant_ / 32 % 16; }

    void come_later(uint operations) const
    {
        for (; operations != 0; operations--)
            kma_load_u32(&heap_.in.heap->seekers, KMA_RELAXED);
    }

    // Ends the slab, and makes of its lines another of two slots, both of which are taken.
    void replace_two(uint me)
    {
        block_list &mine = held_[1];
        come_later(is_buried_late() ? early() : late() + variant_ / 32 % 32);
        while (mine.count != 0)
            heap_.free(mine.pop(0));
        for (uint slot = 0; slot < 2; slot++)
            if (const block one = heap_.alloc(shape_.kinds[1], stamp(me)); one.units != 0)
                mine.push(one);
    }

    // Takes all slots of the slab that the head has, the head's too, ends it, and has another slab there.
    void replace_slab(uint me)
    {
        for (uint round = 0; round < 2; round++) {
            block_list mine;
            for (uint slot = 0; slot < 4; slot++)
                if (const block one = heap_.alloc(shape_.kinds[0], stamp(me)); one.units != 0)
                    mine.push(one);
            while (mine.count != 0)
                heap_.free(mine.pop(draw_of(me) % mine.count));
            if (mode_ == aliens && variant_ % 4 == 1)
                continue;
            const block other = heap_.alloc(shape_.kinds[1 + draw_of(me) % 2], stamp(me));
            if (other.units != 0)
                heap_.free(other);
        }
    }

    // Two lines as one block, if they are so aligned.
    void take_runs(uint me)
    {
        for (uint round = 0; round < 4; round++)
            if (const block one = heap_.alloc(24, stamp(me), 2 * KMA_SL_LINE); one.units != 0)
                heap_.free(one);
    }

    // The same, with another slab of two slots there, whose hole is filled, looked for in vain, and free again.
    void hide_hole(uint me)
    {
        block_list &mine = held_[1];
        for (uint slot = 0; slot < 3; slot++)
            if (const block one = heap_.alloc(shape_.kinds[0], stamp(me)); one.units != 0)
                mine.push(one);
        while (mine.count != 0)
            heap_.free(mine.pop(0));
        for (uint slot = 0; slot < 3; slot++)
            if (const block one = heap_.alloc(shape_.kinds[1], stamp(me)); one.units != 0)
                mine.push(one);
        come_later(variant_ % 64);
        if (mine.count == 2)
            heap_.free(mine.pop(1));
    }

    bool is_replaced_together() const { return is_wide_ && mode_ == aliens_again; }

    // The same by lanes of a group: the second one ends the slab of which two slots were taken, and with the first one
    // makes another of two.
    void replace_together(uint me)
    {
        block_list &mine = held_[me];
        if (me == 1) {
            for (uint slot = 0; slot < 3; slot++)
                if (const block one = heap_.alloc(shape_.kinds[0], stamp(me)); one.units != 0)
                    mine.push(one);
            while (mine.count != 0)
                heap_.free(mine.pop(draw_of(me) % mine.count));
        }
        kma_lanes_sync(KMA_LANES_ALL);
        if (me >= 2)
            return;
        const block one = heap_.alloc(shape_.kinds[variant_ / 4 % 4 != 0 ? 2 : 0], stamp(me));
        if (one.units == 0)
            return;
        if (variant_ / 1024 % 2 != 0)
            return mine.push(one);
        come_later(variant_ / 16 % 128);
        heap_.free(one);
    }

    // The same, with another slab there as soon as its four slots are free, and then one at the second line.
    void replace_twice(uint me)
    {
        block_list mine;
        for (uint slot = 0; slot < 4; slot++)
            if (const block one = heap_.alloc(shape_.kinds[0], stamp(me)); one.units != 0)
                mine.push(one);
        while (mine.count != 0)
            heap_.free(mine.pop(0));
        const block other = heap_.alloc(shape_.kinds[1], stamp(me));
        come_later(variant_ % 128);
        if (other.units != 0)
            heap_.free(other);
        const kma_sl_heap sl = kma_sl_open(heap_.in.heap);
        const uint second = heap_.in.first_line() + 1;
        if (!kma_sl_take_lines(heap_.in.heap, second, 1))
            return;
        kma_sl_make(&sl, second, 1, 1, KMA_SL_SLOTS, ~0u); // as of many requests
        for (uint slot = 0; slot < KMA_SL_SLOTS; slot++)
            mine.push(heap_.adopt({KMA_SL_LINE + slot, 1, stamp(me)}));
        while (mine.count != 2)
            heap_.free(mine.pop(2));
        come_later(variant_ / 128 % 64);
        while (mine.count != 0)
            heap_.free(mine.pop(0));
    }

    void free_same(uint me)
    {
        block_list &blocks = held_[0];
        const bool has_two = blocks.count == 2;
        if (me == 0)
            heap_.free(blocks.blocks[0]);
        else if (me == 1)
            heap_.free_again(blocks.blocks[0]); // or the first is told
        else if (me == 2 && has_two)
            heap_.free(blocks.blocks[1]);
    }

    tiny_heap<slab_kind> heap_;
    block_list held_[max(threads, 3u)];
    uint stamps_[threads] = {}, draws_[threads] = {};
    heap_shape shape_{};
    uint mode_ = 0, variant_ = 0, draw_ = 0, prelude_stamp_ = 0;
    bool is_wide_ = false;
};
