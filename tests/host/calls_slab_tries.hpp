// What lanes together do on the slab heap when an attempt fails, by groups of up to 64 lanes that a lone caller plays: who lost his
// lines, draws again, or goes on another way; and all checks of lanes together.
#pragma once

#include "calls_slab_windows.hpp"

namespace calls {

// ------ one attempt after the other ---------------------------------------------------------------------------------

// The first of those who met others moves the cursor: home if it may, else to the first of eight shares of its own that is free. Each
// chunk of many lines is a share, each second one the cursor's.
inline void check_group_losers()
{
    struct row {
        uint many;        // of the half
        bool home;        // is free
        uint free;        // the share that is, beside it
        uint seen, right; // what the cursor counted and counts
    };
    static constexpr row rows[] = {
        {32, true, 3, 2 * 32 + 5, 0},           {32, false, 3, 2 * 32 + 5, 3 * 32},  {32, false, 10, 2 * 32 + 5, 10 * 32},
        {32, false, 11, 2 * 32 + 5, 2 * 32 + 5}, {5, false, 7, 2 * 32 + 5, 7 * 32},   {5, false, 8, 2 * 32 + 5, 2 * 32 + 5},
        {32, false, 99, 2 * 32 + 5, 2 * 32 + 5}, {32, true, 3, 32 + 5, 32 + 5},         {32, true, 99, 2 * 32 + 5, 0},
    };
    for (const row &each : rows) {
        group_heap in(40);
        kma_atomic_u32 *const cursor = kma_sl_cursor(in.heap, KMA_SL_BAND_MANY, 0);
        for (uint chunk = 0; chunk < 40; chunk++)
            put(kma_sl_used(&in.sl, chunk), 1);
        const auto free = [&](uint share) {
            put(kma_sl_used(&in.sl, kma_sl_counted_line(&in.sl, KMA_SL_BAND_MANY, 0, share * 32) / 32), 0);
        };
        if (each.home)
            free(0);
        if (each.free < 20)
            free(each.free);
        put(cursor, each.seen);
        put(cursor + 1, 0);
        const uint line = kma_sl_counted_line(&in.sl, KMA_SL_BAND_MANY, 0, 2 * 32 + 1);
        shim::lockstep::run(each.many, 0, [&](uint me) {
            const kma_sl_part part = {me == 0 ? line / 32 : KMA_SL_NONE, 0};
            kma_sl_lose(in.heap, line, 20, me, each.many, part);
        });
        shim::check(now(cursor) == each.right, "where lanes together move a cursor");
        shim::check(now(cursor + 1) == (each.right != each.seen ? each.right : 0), "where the cursor began");
    }
}

inline void check_group_once()
{
    enum : uint { is_free, at_the_end, of_others, scarce };
    const group_sizes sizes = {60, 70, 0, 50, 66, 1025};
    for (const uint way : {is_free, at_the_end, of_others, scarce}) {
        group_heap in;
        kma_atomic_u32 *const cursor = kma_sl_cursor(in.heap, KMA_SL_BAND_MANY, 0);
        put(cursor, way == at_the_end ? 31 : 0);
        const uint line = kma_sl_counted_line(&in.sl, KMA_SL_BAND_MANY, 0, 0);
        if (way == of_others)
            in.use(line + 1, 1);
        if (way == scarce)
            kma_sl_set_scarce(in.heap, 2);
        std::vector<kma_ref> got(sizes.size());
        shim::lockstep::run(static_cast<uint>(sizes.size()), 0,
                            [&](uint me) { got[me] = kma_sl_take_once(in.heap, sizes[me]); });
        static constexpr uint offsets[] = {0, 60, 0, 130, 180};
        for (uint me = 0; me < sizes.size(); me++) {
            const bool waits = sizes[me] != 0 && sizes[me] <= 256;
            const kma_ref right = !waits || way == scarce ? KMA_SL_ENOUGH
                                  : way == is_free        ? in.heap->plan.begin + line * 32 + offsets[me]
                                  : way == at_the_end     ? KMA_NULL
                                                          : KMA_SL_AGAIN;
            shim::check(got[me] == right, "what one attempt gives");
        }
        shim::check(in.used() == (way == is_free ? 9u : way == of_others ? 1u : 0u), "lines after one attempt");
    }
}

inline void take_together(group_heap &in, const group_sizes &sizes, bool lost = false)
{
    in.blocks.assign(sizes.size(), nullptr);
    shim::lockstep::run(static_cast<uint>(sizes.size()), 0, [&](uint me) {
        in.blocks[me] = kma_slab_deref(in.heap, kma_sl_take_together(in.heap, sizes[me], lost));
    });
}

// Lanes that want so many lines are led to those of others, or past the end of a share, and ask again: a few times.
inline void check_group_redraws()
{
    struct row {
        uint lines, before; // that they want, and that their cursor has counted
        uint others;        // lines of its first share
        uint after;         // what it has counted when it leads to theirs
        bool does;          // they ask so often
    };
    static constexpr row rows[] = {
        {10, 0, 0, 0, true},   {10, 0, 3, 10, true},    {10, 25, 0, 35, true}, {10, 0, 13, 20, false},
        {20, 31, 0, 71, true}, {24, 31, 0, 103, false}, {24, 0, 1, 48, false},
    };
    for (const row &each : rows) {
        group_heap in;
        put(kma_sl_cursor(in.heap, KMA_SL_BAND_MANY, 0), each.before);
        const uint first = kma_sl_counted_line(&in.sl, KMA_SL_BAND_MANY, 0, 0);
        const uint last[] = {first + 31, kma_sl_counted_line(&in.sl, KMA_SL_BAND_MANY, 0, 63)};
        for (const uint line : last) // of each share: so the cursor is not moved
            in.use(line, 1);
        if (each.others != 0)
            in.use(first, each.others);
        const group_sizes sizes(32, each.lines);
        take_together(in, sizes);
        check_placed(in, order_of(sizes.data()), in.blocks.data());
        const uint right = kma_sl_counted_line(&in.sl, KMA_SL_BAND_MANY, 0, each.after);
        shim::check((in.unit_of(in.blocks[0]) == right * KMA_SL_LINE) == each.does, "how often lanes ask their cursor");
        if (each.others != 0)
            in.give(first, each.others);
        for (const uint line : last)
            in.give(line, 1);
        in.free_all();
    }
}

// Who was led to lines of others just now does not ask again, and looks so often.
inline void check_group_looks()
{
    const group_sizes sizes(32, 10);
    {
        group_heap in;
        kma_atomic_u32 *const cursor = kma_sl_cursor(in.heap, KMA_SL_BAND_MANY, 0);
        take_together(in, sizes, true);
        check_placed(in, order_of(sizes.data()), in.blocks.data());
        shim::check(now(cursor) == 0, "lanes that lost ask the cursor that led them");
        in.free_all();
    }
    group_heap in(40);
    for (uint chunk = 0; chunk < 40; chunk++)
        put(kma_sl_used(&in.sl, chunk), ~1u); // a line, where two lanes want two
    std::vector<kma_ref> got(32);
    const uint before = shim::lockstep::operations;
    shim::lockstep::run(32, 0, [&](uint me) { got[me] = kma_sl_take_together(in.heap, 32, true); });
    const uint looks = shim::lockstep::operations - before;
    for (const kma_ref each : got)
        shim::check(each == KMA_NULL, "blocks of no lines");
    // Each lane reads what its cursor counted, what is scarce, and the word of its chunk, and later which chunks have room.
    const uint right = 32 * (KMA_SL_VIEWS_BLIND * 3 + (KMA_SL_VIEWS - KMA_SL_VIEWS_BLIND) * 4);
    shim::check(looks == right, "how often lanes look");
}

inline void check_slab_groups()
{
    shim::start_watchdog(); // for these alone
    slab_kind::vary(0);
    check_group_orders();
    check_group_blocks();
    check_group_holes();
    check_group_realloc();
    check_group_of_two();
    check_group_requests();
    check_group_draws();
    check_group_equal();
    check_window_lengths();
    check_group_views();
    check_view_of_full();
    check_group_losers();
    check_group_once();
    check_group_redraws();
    check_group_looks();
    shim::self().operations = 0;
}

} // namespace calls
