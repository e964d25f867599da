// Sizes, plans, masks and forms of the slab heap, against plain computation.
#pragma once

#include "calls.hpp"
#include "slab_made.hpp"

namespace calls {

inline void check_slab_sizes()
{
    for (uint units = 1; units <= 2 * KMA_SL_MOST_MIXED; units++) {
        uint above = 0, within = KMA_SL_CLASSES - 1;
        while (above < KMA_SL_CLASSES && kma_sl_units(above) < units)
            above++;
        while (kma_sl_units(within) > units)
            within--;
        shim::check(units > KMA_SL_MOST_MIXED || kma_sl_class_of(units) == above, "the class for a size");
        shim::check(kma_sl_class_within(units) == within, "the class that fits into a slot");
        shim::check(kma_sl_whole_lines(units) == (units + 31) / 32, "lines of a block");
    }
    shim::check(kma_sl_units(KMA_SL_CLASSES - 1) == KMA_SL_MOST_MIXED, "the largest class");
    for (uint c = 0; c < KMA_SL_CLASSES; c++) {
        const kma_sl_size size = kma_sl_size_of(c);
        shim::check(size.units == kma_sl_units(c) && size.slots == min(size.lines * 32 / size.units, 32u), "slots");
        for (uint lines = c == 0 ? 1 : 2; lines <= size.lines; lines++) {
            const uint slots = min(lines * 32 / size.units, 32u), rest = lines * 32 - slots * size.units;
            const bool does = slots >= 4 && rest * 64 <= lines * 32;
            shim::check(does == (lines == size.lines), "not the fewest lines that do");
        }
    }
    for (uint value = 0; value < 200; value++)
        for (const uint most : {1u, 2u, 64u, 128u}) {
            uint right = 1;
            while (right * 2 <= value && right * 2 <= most)
                right *= 2;
            shim::check(kma_sl_power(value, most) == right, "the largest power of two");
        }
    for (uint count = 0; count <= 40; count++)
        shim::check(kma_sl_all_slots(count) == (count >= 32 ? ~0u : (1u << count) - 1), "the lowest slots");
    for (uint units = 31; units <= 124; units++)
        shim::check(kma_sl_small_lines(units) == (units <= 92 ? 3 : 4), "lines of a small slab");
    for (uint units = 2; units < 1024; units++)
        for (uint slots = 1; slots <= 32; slots++)
            shim::check(kma_sl_lines_for(units, slots) == max((units * slots + 31) / 32, 2u), "lines of equal slots");
}

inline void check_slab_masks()
{
    for (uint first = 32; first < 64; first++)
        for (uint count = 1; count < 80; count++)
            for (uint chunk = 1; chunk <= (first + count - 1) / 32; chunk++) {
                uint right = 0;
                for (uint line = first; line < first + count; line++)
                    right |= line / 32 == chunk ? 1u << line % 32 : 0;
                shim::check(kma_sl_mask(first, count, chunk) == right, "lines of a chunk");
            }
    for (uint seed = 0; seed < 3000; seed++) {
        const uint word = seed < 34 ? (seed == 33 ? 0 : ~0u << seed % 32) : kma_mix32(seed) & kma_mix32(seed ^ 0x777);
        for (uint count = 1; count <= 32; count++) {
            uint right = KMA_SL_NONE;
            for (uint bit = 32 - count + 1; bit-- != 0;)
                if ((ulong{word} >> bit & ((ulong{1} << count) - 1)) == 0)
                    right = bit;
            shim::check(kma_sl_gap(word, count) == right, "free lines side by side");
        }
        if (word != 0) {
            shim::check(kma_sl_first_bit(word) == static_cast<uint>(std::countr_zero(word)), "the first bit");
            uint left = word, lowest = 0;
            for (uint count = 0; count < 34; count++) {
                shim::check(kma_sl_lowest(word, count) == lowest, "the lowest bits");
                lowest |= left & (0u - left);
                left &= left - 1;
            }
        }
    }
    for (uint first = 0; first < 40; first++) {
        uint right = first + KMA_SL_BACK;
        while (right % KMA_SL_MARKS != 0)
            right++;
        shim::check(kma_sl_first_back(first) == right, "the first line that tells where its slab begins");
    }
}

// What cursors count, and the other way round.
inline void check_slab_cursors()
{
    for (const uint chunks : {1u, 2u, 3u, 5u, 8u, 13u})
        for (const uint band : {KMA_SL_BAND_FEW, KMA_SL_BAND_MANY, KMA_SL_BAND_HEADS}) {
            ulong end;
            const kma_sl_heap sl = {nullptr, kma_sl_plan_of(chunks, KMA_SL_CURSORS, 0, &end)};
            const uint share = 1u << kma_sl_share_shift(band), rounds = kma_sl_band_rounds(&sl, band);
            const uint shares = rounds * sl.plan.cursors;
            const uint begin = band == KMA_SL_BAND_FEW ? 0 : band == KMA_SL_BAND_MANY ? shares / 2 : shares - shares / 4;
            for (uint cursor = 0; cursor < sl.plan.cursors && rounds != 0; cursor++) {
                for (uint count = 0; count < 3 * rounds * share; count++) {
                    const uint number = (count / share % rounds * sl.plan.cursors + cursor + begin) % shares;
                    shim::check(kma_sl_counted_line(&sl, band, cursor, count) == number * share + count % share,
                                "the line that a cursor means");
                }
                for (uint line = 0; line < chunks * 32; line++) {
                    const uint back = kma_sl_count_to_line(&sl, band, cursor, line);
                    const uint to = kma_sl_counted_line(&sl, band, cursor, back);
                    const uint number = (std::min(line / share, shares - 1) + shares - begin) % shares;
                    const uint next =
                        (number + (cursor + sl.plan.cursors - number % sl.plan.cursors) % sl.plan.cursors);
                    const uint right = number % sl.plan.cursors == cursor && line / share < shares
                                           ? line
                                           : (next + begin) % shares * share + (next == number ? line % share : 0);
                    shim::check(to == right, "what a cursor counts for a line");
                }
            }
        }
}

inline void check_slab_plan(uint chunks, uint cursors, uint debug)
{
    ulong end;
    const kma_sl_plan plan = kma_sl_plan_of(chunks, cursors, debug, &end);
    const ulong word = sizeof(kma_atomic_u32);
    shim::check(plan.chunks == chunks && plan.room == chunks, "chunks");
    shim::check(plan.cursors == clamp(min(cursors, chunks / KMA_SL_CURSOR_CHUNKS), 1u, KMA_SL_CURSORS), "cursors");
    for (uint place = 0; place < 2048; place++) // kma_sl_cursor_of
        shim::check((place * plan.inverse >> 16) == place / plan.cursors, "the inverse of the cursors");
    shim::check(plan.places == kma_sl_power(chunks / KMA_SL_PLACE_CHUNKS, KMA_SL_PLACES), "places");
    shim::check(plan.few_rounds == (chunks * 32 >> KMA_SL_FEW_SHIFT) / plan.cursors, "shares of few lines");
    shim::check(plan.many_rounds == (chunks * 32 >> KMA_SL_MANY_SHIFT) / plan.cursors, "shares of many lines");
    ulong at = plan.heads;
    shim::check(at * KMA_UNIT >= sizeof(kma_slab) && at * KMA_UNIT < sizeof(kma_slab) + KMA_UNIT, "heads");
    const auto follows = [&at](uint next, ulong bytes) {
        at += (bytes + KMA_UNIT - 1) / KMA_UNIT;
        shim::check(next == at, "parts of the metadata are not side by side");
    };
    follows(plan.used, plan.places * KMA_SL_CLASSES * word);
    follows(plan.rooms, chunks * word);
    follows(plan.pins, (chunks + 31) / 32 * word);
    follows(plan.marks, chunks * word);
    follows(plan.trees, chunks * 4 * word);
    at += kma_guard_room(debug);
    shim::check(plan.guard == (debug >= 2 ? at - kma_guard_room(debug) +
                                                (plan.tree_words * KMA_SL_TREES * word + KMA_UNIT - 1) / KMA_UNIT
                                          : 0),
                "the guard");
    follows(plan.words, plan.tree_words * KMA_SL_TREES * word);
    at += ((chunks * 32 + 1) * word + KMA_UNIT - 1) / KMA_UNIT; // a look at the word behind a line's
    shim::check(plan.begin >= at && plan.begin < at + KMA_SL_ALIGN / KMA_UNIT &&
                    plan.begin % (KMA_SL_ALIGN / KMA_UNIT) == 0,
                "where lines begin");
    shim::check(end == plan.begin + ulong{chunks} * 1024 && plan.limit == end, "the end");
}

inline void check_slab_plans()
{
    for (const uint chunks : {1u, 2u, 3u, 7u, 8u, 40u, 129u})
        for (uint cursors = 1; cursors <= KMA_SL_CURSORS; cursors++)
            for (const uint debug : {0u, 2u})
                check_slab_plan(chunks, cursors, debug);
    for (ulong bytes = 0; bytes < ulong{1} << 38; bytes = bytes * 3 + 2000) {
        const ulong units = std::min(bytes / KMA_UNIT, ulong{0xffffffff});
        const uint got = kma_sl_plan_for(bytes, 2, 0).chunks;
        ulong end;
        kma_sl_plan_of(got, 2, 0, &end);
        shim::check(got == 0 || end <= units, "a plan with too many chunks");
        kma_sl_plan_of(got + 1, 2, 0, &end);
        shim::check(end > units, "a plan with too few chunks");
        const kma_sl_plan half = kma_sl_plan_growing(bytes / 2, bytes, 2, 0);
        const kma_sl_plan whole = kma_sl_plan_for(bytes, 2, 0);
        const ulong fit = bytes / 2 / KMA_UNIT > whole.begin ? (bytes / 2 / KMA_UNIT - whole.begin) / 1024 : 0;
        shim::check(half.room == got && half.begin == whole.begin && half.chunks == std::min<ulong>(fit, got) &&
                        half.limit == half.begin + half.chunks * 1024,
                    "the plan of a heap that grows");
        shim::check(kma_sl_plan_within(half, bytes * 2).chunks <= got, "chunks without metadata");
        shim::check(half.few_rounds == (half.chunks * 32 >> KMA_SL_FEW_SHIFT) / half.cursors &&
                        half.many_rounds == (half.chunks * 32 >> KMA_SL_MANY_SHIFT) / half.cursors,
                    "shares of a heap that grows");
    }
}

inline void check_slab_numbers()
{
    check_slab_sizes();
    check_slab_masks();
    check_slab_cursors();
    check_slab_plans();
}

} // namespace calls
