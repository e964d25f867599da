// The slab heap's sizes, words and plans, against plain computation.
#pragma once

#include "heap/calls.hpp"
#include "heap/slab/heap.hpp"

namespace calls {

inline void check_slab_classes()
{
    for (uint units = 1; units <= KMA_SLAB_MOST; units++) {
        const uint size_class = kma_slab_class_of(units), its = kma_slab_units(size_class);
        shim::check(size_class < KMA_SLAB_CLASSES && its >= units, "a class is too small");
        shim::check(size_class == 0 || kma_slab_units(size_class - 1) < units,
                    "a class is too large");
        shim::check(units <= 8 ? its == units : (its - units) * 8 < its, "a class wastes too much");
        shim::check(kma_slab_whole_lines(units) == (units + 15) / 16, "whole lines");
        for (uint offset = 0; offset < KMA_SLAB_FRAME_UNITS; offset++)
            shim::check(kma_slab_divide(offset, units) == offset / units, "a division by floats");
    }
    shim::check(kma_slab_units(KMA_SLAB_CLASSES - 1) == KMA_SLAB_MOST, "the largest class");
    shim::check(kma_slab_units(KMA_SLAB_PAGE_CLASSES - 1) * 8 == KMA_SLAB_FRAME_UNITS,
                "the largest class of pages");
    for (uint size_class = 0; size_class < KMA_SLAB_CLASSES; size_class++) {
        const uint units = kma_slab_units(size_class), shift = kma_slab_shift(units);
        shim::check(units << shift <= KMA_SLAB_FRAME_UNITS && shift <= 4,
                    "a slab is larger than a frame");
        shim::check(shift == 4 || units << (shift + 1) > KMA_SLAB_FRAME_UNITS,
                    "a slab has too few slots");
        for (uint s = 0; s <= shift; s++) {
            const uint word = kma_slab_equal_word(size_class, s);
            shim::check(kma_slab_is_equal(word) && !kma_slab_is_mixed(word), "a slab of one class");
            shim::check(kma_slab_equal_class(word) == size_class && kma_slab_equal_shift(word) == s,
                        "what a slab is");
            shim::check(kma_slab_lines_of(word) == ((units << s) + 15) / 16, "lines of a slab");
            shim::check(kma_slab_slots(word) == (1u << (1u << s)) - 1, "slots of a slab");
        }
    }
}

// Slot s has bit s / W of line word s % W.
inline void check_slab_page_words()
{
    for (uint size_class = 0; size_class < KMA_SLAB_PAGE_CLASSES; size_class++) {
        const uint units = kma_slab_units(size_class), slots = KMA_SLAB_FRAME_UNITS / units;
        const uint words = 1u << kma_slab_page_shift(units);
        shim::check(words >= 8 && words <= 32 && (slots + words - 1) / words <= 16 &&
                        slots >= words,
                    "words of a page");
        for (uint i = 0; i < KMA_SLAB_FRAME_LINES; i++) {
            const uint word = kma_slab_page_word(size_class, i);
            uint bits = 0;
            for (uint slot = i; slot < slots && i < words; slot += words)
                bits |= 1u << slot / words;
            shim::check((word & KMA_SLAB_FORM) == KMA_SLAB_PAGE && (word & KMA_SLAB_OCCUPANCY) == 0,
                        "a word of a page");
            shim::check(kma_slab_page_class(word) == size_class, "the class of a page");
            shim::check(kma_slab_page_slots(word) == (i < words ? bits : 1),
                        "slots of a page's word");
            for (uint other = 0; other < KMA_SLAB_CLASSES; other++)
                shim::check(kma_slab_free_slots(word, other) ==
                                (other == size_class ? kma_slab_page_slots(word) : 0),
                            "free slots of a page's word");
            shim::check(kma_slab_free_slots(word | KMA_SLAB_ENDING, size_class) == 0,
                        "slots of a page that ends");
        }
    }
}

inline void check_slab_masks()
{
    for (uint seed = 0; seed < 3000; seed++) {
        const uint bits = kma_mix32(seed) & (seed % 3 == 0 ? ~0u : kma_mix32(seed + 5000)) &
                          (seed % 2 == 0 ? ~0u : 0xffffu);
        uint longest = 0;
        for (uint count = 1; count <= 32; count++) {
            uint begins = 0;
            for (uint first = 0; first + count <= 32; first++) {
                const uint mask = static_cast<uint>(((ulong{1} << count) - 1) << first);
                shim::check(kma_slab_mask(first, count) == mask, "a mask of lines");
                begins |= (bits & mask) == mask ? 1u << first : 0;
            }
            shim::check(kma_slab_begins(bits, count) == begins, "where free lines begin");
            longest = begins != 0 ? count : longest;
        }
        shim::check(kma_slab_longest_run(bits) == longest, "the longest run");
    }
    for (uint first = 0; first < 70; first++)
        for (uint count = 1; count < 100; count++)
            for (uint frame = first / 32; frame <= (first + count - 1) / 32; frame++) {
                uint mask = 0;
                for (uint line = first; line < first + count; line++)
                    mask |= line / 32 == frame ? 1u << line % 32 : 0;
                shim::check(kma_slab_part(first, count, frame) == mask, "lines in a frame");
            }
}

// Whatever the size: as many frames as there is room for, and nothing in the place of something
// else.
inline void check_slab_plan(ulong bytes, uint cursors, uint debug)
{
    const kma_slab_plan plan = kma_slab_plan_growing(bytes, bytes, cursors, debug);
    const ulong units = std::min(bytes / KMA_UNIT, ulong{0xffffffff});
    ulong end;
    kma_slab_plan_of(plan.frames + 1, cursors, debug, &end);
    shim::check(end > units, "a plan with too few frames");
    if (plan.frames == 0)
        return;
    shim::check(plan.limit <= units && plan.limit == plan.begin + plan.frames * ulong{512},
                "a plan with too many frames");
    shim::check(plan.shards == std::min(plan.room, 2u) &&
                    plan.cursors == std::min(plan.room, cursors),
                "shards and cursors");
    const auto words = [](ulong count) {
        return (count * sizeof(kma_atomic_u32) + KMA_UNIT - 1) / KMA_UNIT;
    };
    shim::check(plan.current * KMA_UNIT >= sizeof(kma_slab), "current lines");
    shim::check(plan.used >= plan.current + words(ulong{plan.shards} * KMA_SLAB_PAGE_CLASSES),
                "used words");
    shim::check(plan.trees >= plan.used + words(plan.frames), "trees");
    const ulong behind = plan.trees + words(ulong{plan.tree_words} * KMA_SLAB_TREES);
    shim::check(debug >= 2 ? plan.guard >= behind && plan.words > plan.guard
                           : plan.guard == 0 && plan.words >= behind,
                "line words");
    shim::check(plan.begin >= plan.words + words(ulong{plan.frames} * 32) && plan.begin % 256 == 0,
                "frames");
    for (uint band = 0; band < 2; band++)
        for (uint cursor = 0; cursor < plan.cursors && plan.rounds[band] != 0; cursor++) {
            kma_slab heap{};
            heap.plan = plan;
            const uint shift = band == 0 ? KMA_SLAB_FEW_SHIFT : KMA_SLAB_MANY_SHIFT;
            const uint last = kma_slab_share(&heap, band, cursor, plan.rounds[band] - 1);
            shim::check(last % (1u << shift) == 0 && last + (1u << shift) <= plan.frames * 32,
                        "a share beyond the heap");
            shim::check(kma_slab_share(&heap, band, cursor, plan.rounds[band]) ==
                            kma_slab_share(&heap, band, cursor, 0),
                        "shares do not come round");
        }
}

inline void check_slab_plans()
{
    for (const uint cursors : {1u, 2u})
        for (const uint debug : {0u, 2u})
            for (ulong bytes = 0; bytes < ulong{1} << 40; bytes = bytes * 3 / 2 + 3000)
                check_slab_plan(bytes, cursors, debug);
    for (const uint most : {1u, 3u, 40u}) { // everything lies where it will lie at the largest
        ulong end;
        const kma_slab_plan last = kma_slab_plan_of(most, 2, 0, &end);
        const ulong max_bytes = end * KMA_UNIT + 40;
        for (ulong bytes = 0; bytes <= max_bytes; bytes += 1000) {
            const kma_slab_plan plan = kma_slab_plan_growing(bytes, max_bytes, 2, 0);
            const ulong begin = ulong{last.begin} * KMA_UNIT,
                        fit = bytes < begin ? 0 : (bytes - begin) / 8192;
            shim::check(plan.frames == fit && plan.room == most && plan.begin == last.begin &&
                            plan.words == last.words && plan.trees == last.trees &&
                            plan.used == last.used && plan.tree_words == last.tree_words,
                        "the plan of a heap that grows");
        }
    }
}

inline void check_slab_numbers()
{
    check_slab_classes();
    check_slab_page_words();
    check_slab_masks();
    check_slab_plans();
}

} // namespace calls
