// The lines of the slab heap, three threads or groups at a time, in a heap of a few chunks that nothing divides:
//
//   runs    each wants a run, and there is room for all of them wherever they lie: who loses lines gives back what he
//   has
//           and goes on, and all must get theirs
//   chunks  runs that fill whole chunks, or reach from one into the next, are freed, taken, and made longer where they
//   are,
//           so that chunks go into the trees of free lines and out of them
//   small   the same beside slabs of smaller blocks, which lanes take together
//   gaps    runs divide what is free, so that lanes together, who want different sizes, get parts of it, some of them
//   each
//   draws   lines by numbers alone, of a cursor and of the next run: nobody is told of lines that another was told of
//   seeks   each looks for the one line that is free, and gives it back; others may be quicker each time
//   claims  each claims long runs of lines that overlap, of four chunks, two of which are claimed at once, or looks for a
//           place for one; who gets it gives it back, and all chunks have room again
//
// Checked: no two owners of half a line at a time, each ordered after the one before; at rest all books
// (slab_books.hpp), and that a lone caller gets all that is free.
#pragma once

#include "heap_slab.hpp"

template <uint threads> class scenario {
public:
    void before()
    {
        variant_ = shim::random(shim::chosen.bound != 0 ? 5u : 1u << 16);
        draw_ = variant_ * 0x9e3779b9u + 1;
        mode_ = draw(5);
        slab_kind::vary(draw(3));
        if (mode_ == runs && shim::chosen.bound == 0 && draw(4) == 0)
            mode_ = draw(5) == 0 ? draws : draw(2) == 0 ? seeks : claims;
        ulong end;
        kma_sl_plan_of(chunks_now(), KMA_SL_CURSORS, 0, &end);
        heap_ = slab_kind::make(memory_.take(end * KMA_UNIT), end * KMA_UNIT, chunks_now());
        for (uint part = 0; part < parts; part++)
            *shim::objects.construct<KMA_PLAIN(uint)>(&owner(part)) = 0;
        kma_store_u32(&heap_->next_run, draw(8) * KMA_SL_LINE + draw(2) * draw(KMA_SL_LINE), KMA_RELAXED);
        for (uint band = 0; band < KMA_SL_BANDS; band++)
            for (uint cursor = 0; cursor < heap_->plan.cursors; cursor++)
                kma_store_u32(kma_sl_cursor(heap_, band, cursor), draw(100), KMA_RELAXED);
        kma_store_u32(&heap_->next_long, draw(chunks_now() * KMA_SL_LINE), KMA_RELAXED);
        if (mode_ == seeks)
            leave_one();
        else if (is_divided())
            divide();
        else if (mode_ == chunks || mode_ == small)
            prelude();
        if (shim::chosen.bound == 0)
            shim::plan_nap(threads);
    }

    void thread(uint me)
    {
        if (me >= actors && (mode_ == runs || mode_ >= draws))
            return;
        if (mode_ == draws)
            return draw_lines(me);
        if (mode_ == seeks)
            return seek_lines();
        if (mode_ == claims)
            return claim_lines(me);
        if (mode_ == runs) {
            const piece run = take(me, run_units[draw_of(me) % std::size(run_units)]);
            shim::check(run.units != 0, "no run, though there is one for everybody");
            held_[me][0] = run;
            return;
        }
        for (uint round = 0; round < 3; round++)
            for (piece &mine : held_[me])
                step(me, mine);
    }

    void after()
    {
        if (mode_ == draws)
            check_drawn();
        if (mode_ == seeks)
            check_left();
        if (mode_ == claims)
            return check_claimed();
        check();
        for (uint me = 0; me < threads; me++)
            for (piece &mine : held_[me])
                give(mine);
        check();
        for (piece &wall : walls_)
            give(wall);
        for (const uint units : {draw(2) == 0 ? 1024u : 544u, 16u, 1040u}) {
            piece all[parts];
            uint count = 0;
            while (slab_books(heap_).has_room(units)) {
                all[count] = take(0, units);
                shim::check(all[count++].units != 0, "a lone caller gets NULL though there is room");
            }
            shim::check(take(0, units).units == 0, "more blocks than there are");
            while (count != 0)
                give(all[--count]);
            check();
        }
        shim::objects.destroy_all();
    }

private:
    enum : uint { runs, chunks, small, gaps, gaps_again, draws, seeks, claims };
    static constexpr uint actors = min(threads, 3u);
    static constexpr uint part_units = 16;
    static constexpr uint parts = slab_kind::chunks * KMA_SL_LINE * KMA_SL_LINE / part_units;
    static constexpr uint run_units[] = {512, 272, 480}; // at most 16 lines: three of them leave room for one more
    static constexpr uint chunk_units[] = {1024, 512, 1056, 2048, 544, 992, 288};
    static constexpr uint small_units[] = {32, 16, 1024, 256, 992, 64, 48};

    static constexpr uint gap_units[] = {96, 112, 80, 144, 96, 128};
    static constexpr uint most_walls = 12;

    struct piece {
        uint first = 0; // unit
        uint units = 0;
        uint stamp = 0;
    };

    // The scenario's own random numbers, of one execution: the same in a replay, and no choices for a search.
    uint draw(uint limit)
    {
        draw_ = kma_mix32(draw_ + 0x9e3779b9u);
        return draw_ % limit;
    }
    uint draw_of(uint me) { return kma_mix32(variant_ * 64 + me * 8 + (++draws_[me] << 20)); }
    uint units_for(uint choice) const
    {
        return is_divided()     ? gap_units[choice % std::size(gap_units)]
               : mode_ == small ? small_units[choice % std::size(small_units)]
                                : chunk_units[choice % std::size(chunk_units)];
    }

    bool is_divided() const { return mode_ == gaps || mode_ == gaps_again; }

    // A few pairs of lines by each: fewer than the cursor has before it goes round, and the heap.
    void draw_lines(uint me)
    {
        const kma_sl_heap sl = kma_sl_open(heap_);
        for (uint n = 0; n < pairs; n++) {
            drawn_[me][n] = kma_sl_draw(&sl, KMA_SL_BAND_FEW, 2);
            next_[me][n] = kma_sl_next_run(heap_, 2);
        }
    }

    void check_drawn()
    {
        uint times[slab_kind::chunks * KMA_SL_LINE] = {};
        for (uint me = 0; me < actors; me++)
            for (uint n = 0; n < pairs; n++) {
                shim::check(next_[me][n] != KMA_SL_NONE, "who was told of lines for a run met others there");
                kma_sl_give_lines(heap_, next_[me][n], 2);
                if (drawn_[me][n] != KMA_SL_NONE) // at the end of a share
                    shim::check(times[drawn_[me][n]]++ == 0, "two were told of the same lines");
            }
    }

    void leave_one()
    {
        const uint lines = slab_kind::chunks * KMA_SL_LINE;
        left_ = draw(lines);
        shim::check(kma_sl_take_lines(heap_, 0, left_) && kma_sl_take_lines(heap_, left_ + 1, lines - left_ - 1),
                    "no lines in a new heap");
    }

    void seek_lines()
    {
        for (uint round = 0; round < 12; round++) {
            const uint line = kma_sl_seek(heap_, 1, 1);
            shim::check(line == KMA_SL_NONE || line == left_, "a line that nobody had given back");
            if (line != KMA_SL_NONE)
                kma_sl_give_lines(heap_, line, 1);
        }
    }

    uint chunks_now() const { return mode_ == claims ? slab_kind::chunks + 1 : slab_kind::chunks; }

    // Of each line somebody is the owner: the shim sees two who write there without an order between them.
    void claim_lines(uint me)
    {
        const uint lines = chunks_now() * KMA_SL_LINE;
        for (uint round = 0; round < 3; round++) {
            const uint choice = draw_of(me);
            const uint count = choice % 4 == 0 ? 63 + choice / 4 % 66 : 1 + choice / 4 % lines;
            uint first = choice / 1024 % (lines - count + 1);
            if (choice >> 30 == 0 && count > KMA_SL_SHORT)
                first = kma_sl_seek_long(heap_, count, choice % 2 != 0 ? 2 : 1);
            else if (!kma_sl_take_lines(heap_, first, count))
                first = KMA_SL_NONE;
            if (first == KMA_SL_NONE)
                continue;
            for (uint line = first; line < first + count; line = (line / 8 + 1) * 8)
                owner(line) = me + 1;
            for (uint line = first; line < first + count; line = (line / 8 + 1) * 8)
                shim::check(owner(line) == me + 1, "a line has two owners");
            kma_sl_give_lines(heap_, first, count);
        }
    }

    void check_claimed()
    {
        const kma_sl_heap sl = kma_sl_open(heap_);
        const auto now = [](const kma_atomic_u32 *word) { return word->peek(shim::location::current()); };
        for (uint chunk = 0; chunk < chunks_now(); chunk++)
            shim::check(now(kma_sl_used(&sl, chunk)) == 0, "lines that nobody has were not given back");
        shim::check(now(kma_sl_rooms(&sl, 0)) == (1u << chunks_now()) - 1, "a free chunk is hidden");
        shim::check(kma_sl_seek_long(heap_, chunks_now() * KMA_SL_LINE, 1) == 0, "a lone caller and all of the heap");
        shim::objects.destroy_all();
    }

    void check_left()
    {
        shim::check(kma_sl_seek(heap_, 1, 1) == left_, "a lone caller does not find the line that is free");
        kma_sl_give_lines(heap_, 0, slab_kind::chunks * KMA_SL_LINE);
    }

    // The heap is full, or has room in one place.
    void prelude()
    {
        for (uint me = 0; me < actors; me++)
            for (piece &mine : held_[me])
                if (draw(4) != 0)
                    mine = take(me, units_for(draw(16)));
    }

    // Nine lines, and nine or eighteen that are free, and so on.
    void divide()
    {
        for (piece &wall : walls_)
            if ((wall = take(0, 288)).units == 0)
                break;
        for (piece &wall : walls_)
            if (draw(3) != 0)
                give(wall);
    }

    void step(uint me, piece &mine)
    {
        const uint choice = draw_of(me);
        if (mine.units == 0)
            mine = take(me, units_for(choice >> 8));
        else if (choice % 4 == 0)
            resize(me, mine, units_for(choice >> 8));
        else
            give(mine);
    }

    piece take(uint me, uint units)
    {
        void *const place = kma_slab_malloc(heap_, size_t{units} * KMA_UNIT);
        return place ? own(me, place, units) : piece{};
    }

    piece own(uint me, void *place, uint units)
    {
        const uint first = kma_slab_ref_of(heap_, place) - heap_->plan.begin;
        shim::check(first % part_units == 0 && first + units <= parts * part_units, "a block at an odd place");
        shim::check(kma_slab_usable_size(heap_, place) >= size_t{units} * KMA_UNIT, "a block is too small");
        const piece mine = {first, units, (me + 1) << 10 | ++stamps_[me]};
        for (uint part = first / part_units; part < (first + units) / part_units; part++)
            owner(part) = mine.stamp;
        return mine;
    }

    void check_owned(const piece &mine)
    {
        for (uint part = mine.first / part_units; part < (mine.first + mine.units) / part_units; part++)
            shim::check(owner(part) == mine.stamp, "half a line has two owners");
    }

    void give(piece &mine)
    {
        if (mine.units == 0)
            return;
        check_owned(mine);
        const piece gone = std::exchange(mine, {});
        kma_slab_free(heap_, place_of(gone));
    }

    void resize(uint me, piece &mine, uint units)
    {
        check_owned(mine);
        void *const place = kma_slab_realloc(heap_, place_of(mine), size_t{units} * KMA_UNIT);
        if (place && (place != place_of(mine) || units > mine.units))
            mine = own(me, place, units);
    }

    void check()
    {
        slab_books books(heap_);
        for (uint me = 0; me < threads; me++)
            for (const piece &each : held_[me])
                if (each.units != 0) {
                    check_owned(each);
                    books.expect(each.first);
                }
        for (const piece &each : walls_)
            if (each.units != 0)
                books.expect(each.first);
        books.check();
    }

    uchar *place_of(const piece &of) const
    {
        return reinterpret_cast<uchar *>(heap_) + (size_t{heap_->plan.begin} + of.first) * KMA_UNIT;
    }

    KMA_PLAIN(uint) & owner(uint part) { return reinterpret_cast<KMA_PLAIN(uint) *>(owner_memory_)[part]; }

    kma_slab *heap_ = nullptr;
    piece held_[max(threads, 3u)][2];
    piece walls_[most_walls];
    uint stamps_[threads] = {}, draws_[threads] = {};
    static constexpr uint pairs = 3;
    uint drawn_[actors][pairs], next_[actors][pairs]; // lines
    uint mode_ = 0, variant_ = 0, draw_ = 0, left_ = 0;
    alignas(64) uchar owner_memory_[parts * sizeof(KMA_PLAIN(uint))];
    shim::heap_memory<slab_kind::most_metadata> memory_;
};
