// The arithmetic of the scatter heap against loops that count: sizes, plans, trees and masks.
#pragma once

#include "heap/calls.hpp"
#include "heap/scatter/heap.hpp"

namespace calls {

inline void check_scatter_sizes()
{
    for (uint shift = KMA_SCATTER_MIN_SHIFT; shift <= KMA_SCATTER_MAX_SHIFT; shift++) {
        const uint page = 1u << shift, classes = kma_scatter_classes(shift);
        shim::check(classes <= KMA_SCATTER_CLASSES && kma_scatter_units(classes - 1, shift) == page, "classes of a page");
        for (uint c = 0; c < classes; c++) {
            const kma_scatter_size size = kma_scatter_size_of(c, shift);
            const bool is_asked_for = kma_scatter_class_of(size.units, shift) == c; // not all of so small pages
            shim::check(size.spots == page / size.units || !is_asked_for, "chunks of a class in a page");
            shim::check(c == 0 || size.units >= kma_scatter_units(c - 1, shift), "classes do not rise");
            for (const uint divisor : {size.units, size.spots})
                for (ulong number = 0; number <= 0xffffffff; number = number * 3 / 2 + 1)
                    for (uint a = static_cast<uint>(number) - 1; a != static_cast<uint>(number) + 2; a++) {
                        const uint by = divisor == size.units ? size.by_units : size.by_spots;
                        const kma_scatter_quotient q = kma_scatter_divide(a, divisor, by);
                        shim::check(q.whole == a / divisor && q.rest == a % divisor, "a division");
                    }
        }
        for (uint units = 1; units <= page; units++) {
            uint right = 0;
            while (kma_scatter_units(right, shift) < units)
                right++;
            shim::check(kma_scatter_class_of(units, shift) == right, "the class for a size");
        }
    }
    for (const uint value : {0u, 1u, 2u, 3u, 7u, 8u, 100u})
        shim::check(kma_scatter_power(value, 8) == (value >= 8   ? 8u
                                               : value >= 4 ? 4u
                                               : value >= 2 ? 2u
                                                            : 1u),
                    "a power of two");
}

// A bit for each item, and for each word of the level below, up to one word.
inline void check_tree_size(uint items, uint whole)
{
    uint words = 0, below = max(items, 1u), level = 0;
    do {
        shim::check(kma_bit_tree_base(items, level) == words, "where a level of a tree begins");
        below = (below + KMA_BIT_TREE_FANOUT - 1) / KMA_BIT_TREE_FANOUT;
        shim::check(kma_bit_tree_nodes(items, level) == below, "words in a level of a tree");
        words += below;
        level++;
    } while (below != 1);
    shim::check(kma_bit_tree_top(items) == level - 1 && whole == words, "words of a tree");
}

// Everything lies behind what is in front of it, pages aligned; and no page more would fit.
inline void check_scatter_plan(ulong bytes, uint shift, uint super_shift)
{
    ulong end;
    const kma_scatter_plan plan = kma_scatter_plan_for(bytes, shift, super_shift, 0);
    const ulong units = std::min(bytes / KMA_UNIT, ulong{0xffffffff});
    kma_scatter_plan_of(plan.pages, shift, super_shift, 0, &end);
    shim::check(plan.pages == 0 || (end <= units && plan.limit == end), "a plan with too many pages");
    shim::check(plan.pages == 0 || plan.begin + (plan.pages << shift) == plan.limit, "a plan's pages and its limit");
    const auto behind = [](uint at, ulong words) { return at + kma_whole_units(words * sizeof(kma_atomic_u32)); };
    shim::check(plan.cursors >= sizeof(kma_scatter) / KMA_UNIT &&
                    plan.full >= behind(plan.cursors, plan.places * 32u) &&
                    plan.table >= behind(plan.full, plan.supers) && plan.trees >= behind(plan.table, plan.pages) &&
                    plan.begin >= behind(plan.bitmaps, (ulong{plan.pages} << shift) / 32),
                "parts of a plan overlap");
    shim::check(plan.begin % (KMA_SCATTER_ALIGN / KMA_UNIT) == 0, "pages are not aligned");
    shim::check(plan.bitmaps >= behind(plan.trees, ulong{plan.tree_words} * (kma_scatter_classes(shift) + 1)),
                "the trees have no room");
    check_tree_size(plan.pages, plan.tree_words);
    shim::check(plan.pages == 0 || (plan.supers - 1) << super_shift < plan.pages, "too many super blocks");
    shim::check(plan.pages <= ulong{plan.supers} << super_shift, "too few super blocks");
    kma_scatter_plan_of(plan.pages + 1, shift, super_shift, 0, &end);
    shim::check(plan.pages == 1u << 24 || end > units, "a plan with too few pages");
    shim::check(plan.pages <= 1u << 24, "a plan with more pages than a tree has room for");
    const kma_scatter_plan half = kma_scatter_plan_within(plan, bytes / 2);
    const ulong begin = ulong{plan.begin} * KMA_UNIT, page = ulong{KMA_UNIT} << shift;
    shim::check(half.pages <= plan.pages && half.pages <= (bytes / 2 > begin ? (bytes / 2 - begin) / page : 0),
                "pages beyond the heap's end");
    shim::check(kma_scatter_plan_within(plan, begin / 2).pages == 0, "pages in front of where they begin");
    shim::check(kma_scatter_plan_within(plan, ~ulong{0}).pages == plan.room, "pages without metadata");
}

inline void check_scatter_plans()
{
    for (uint shift = KMA_SCATTER_MIN_SHIFT; shift <= KMA_SCATTER_MAX_SHIFT; shift += 5)
        for (const uint super_shift : {0u, 1u, 6u, KMA_SCATTER_MAX_SUPER_SHIFT})
            for (ulong bytes = 0; bytes < ulong{1} << 42; bytes = bytes * 3 + 2000)
                check_scatter_plan(bytes, shift, super_shift);
    for (uint items = 0; items <= 66; items++)
        check_tree_size(items, kma_bit_tree_words(items));
}

// Of a word of free pages the bits at which a run may begin, and those of pages in a row.
inline void check_scatter_masks()
{
    for (uint count = 1; count <= 70; count++) {
        for (uint word = 0; word < 1u << KMA_BIT_TREE_FANOUT; word++) {
            uint starts = 0;
            for (uint bit = 0; bit < KMA_BIT_TREE_FANOUT; bit++) {
                uint next = bit;
                while (next < min(bit + count, KMA_BIT_TREE_FANOUT) && (word >> next & 1) != 0)
                    next++;
                starts |= uint{next == min(bit + count, KMA_BIT_TREE_FANOUT)} << bit;
            }
            shim::check(kma_scatter_starts(word, count) == starts, "where a run may begin");
        }
        for (uint page = 0; page < 2 * KMA_BIT_TREE_FANOUT; page++) {
            uint bits = 0;
            for (uint each = page; each < page + count && each / KMA_BIT_TREE_FANOUT == page / KMA_BIT_TREE_FANOUT;
                 each++)
                bits |= kma_bit_tree_bit(each);
            shim::check(kma_scatter_bits_of(page, page + count) == bits, "the bits of pages in a row");
        }
    }
}

inline void check_scatter_numbers()
{
    check_scatter_sizes();
    check_scatter_plans();
    check_scatter_masks();
}

} // namespace calls
