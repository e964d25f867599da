// What lanes together do on the slab heap when an attempt fails, by groups of up to 64 lanes that a lone caller plays: who lost his
// lines, draws again, or goes on another way; and all checks of lanes together.
#pragma once

#include "calls_slab_draws.hpp"

namespace calls {

// ------ one attempt after the other ---------------------------------------------------------------------------------

// The first of those who met others moves the cursor, here to where it began.
inline void check_group_losers()
{
    for (const uint me : {1u, 0u}) {
        group_heap in;
        kma_atomic_u32 *const cursor = kma_sl_cursor(in.heap, KMA_SL_BAND_MANY, 0);
        put(cursor, 2);
        put(cursor + 1, 32);
        const uint line = kma_sl_counted_line(&in.sl, KMA_SL_BAND_MANY, 0, 0);
        kma_sl_part part = {line / 32 + me, 0};
        kma_sl_lose(in.heap, line, 20, me, 2, part);
        shim::check(now(cursor) == (me == 0 ? 32u : 2u), "who moves a cursor");
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

inline void take_together(group_heap &in, const group_sizes &sizes)
{
    in.blocks.assign(sizes.size(), nullptr);
    shim::lockstep::run(static_cast<uint>(sizes.size()), 0, [&](uint me) {
        in.blocks[me] = kma_slab_deref(in.heap, kma_sl_take_together(in.heap, sizes[me]));
    });
}

// Lanes that want so many lines are led to those of others, or past the end of a share, and try again: a few times.
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
        if (each.others != 0)
            in.use(first, each.others);
        const group_sizes sizes(32, each.lines);
        take_together(in, sizes);
        check_placed(in, order_of(sizes.data()), in.blocks.data());
        const uint right = kma_sl_counted_line(&in.sl, KMA_SL_BAND_MANY, 0, each.after);
        shim::check((in.unit_of(in.blocks[0]) == right * KMA_SL_LINE) == each.does, "how often lanes ask their cursor");
        if (each.others != 0)
            in.give(first, each.others);
        in.free_all();
    }
}

// So many gaps of two lines are free, in each of which two lanes have room; they look for eight.
inline void check_group_tries()
{
    for (const uint gaps : {1u, 7u, 8u, 9u}) {
        group_heap in(2);
        const auto is_gap = [gaps](uint line) { return line % 4 >= 2 && line / 4 < gaps; };
        for (uint line = 0; line < 64; line++)
            if (!is_gap(line))
                in.use(line, 1);
        take_together(in, group_sizes(20, 32));
        const auto got = in.blocks.size() - static_cast<size_t>(std::ranges::count(in.blocks, nullptr));
        shim::check(got == 2 * min(gaps, KMA_SL_TRIES), "how many get blocks in gaps");
        for (uint line = 0; line < 64; line++)
            if (!is_gap(line))
                in.give(line, 1);
        in.free_all();
        shim::check(in.used() == 0, "lines that nobody has");
    }
}

inline void check_slab_groups()
{
    shim::start_watchdog(); // for these alone
    slab_kind::vary(0);
    check_group_orders();
    check_group_blocks();
    check_group_of_two();
    check_group_requests();
    check_group_draws();
    check_group_equal();
    check_group_gaps();
    check_gap_giver();
    check_group_losers();
    check_group_once();
    check_group_redraws();
    check_group_tries();
    shim::self().operations = 0;
}

} // namespace calls
