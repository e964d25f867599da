// Sizes and plans of heaps of any size, against plain computation: what no heap that fits into a test can show.
#pragma once

#include "heap/bump/calls.hpp"
#include "heap/scatter/calls.hpp"
#include "heap/slab/calls_blocks.hpp"
#include "heap/superblock/calls.hpp"

namespace calls {

inline void check_sizes()
{
    static constexpr ulong numbers[] = {0, 1, 3, 0xffffffff, 0x100000000, 0x100000001, 0x1ffffffff, ~0ul / 3, ~0ul};
    for (const ulong a : numbers)
        for (const ulong b : numbers)
            shim::check(kma_mul_sat(a, b) == (a != 0 && b > ~0ul / a ? ~0ul : a * b), "mul_sat");
    for (uint place = 0; place < 4; place++)
        shim::check(kma_ref_in(base(), place != 0 ? base() + place * KMA_UNIT : nullptr) == place, "ref of a place");
    shim::check(kma_deref_in(base(), KMA_NULL) == nullptr, "NULL's place");
    for (uint units = 1; units <= 131072; units += units < 3000 ? 1 : 997)
        for (uint align = 1; align <= 256 && align <= 131072 / units; align *= 4) {
            uint right = 0;
            while (kma_class_units(right) < units || kma_class_units(right) % align != 0)
                right++;
            shim::check(kma_class_of_aligned(units, align) == right, "the class for an alignment");
            shim::check(align != 1 || kma_class_of(units) == right, "the class for a size");
        }
    for (uint size_class = 1; size_class < KMA_CLASSES; size_class++)
        shim::check(kma_class_units(size_class) > kma_class_units(size_class - 1), "classes do not rise");
    for (uint shift = KMA_SCATTER_MIN_SHIFT; shift <= KMA_SCATTER_MAX_SHIFT; shift++) {
        for (uint units = 1, right = 0; units <= 1u << shift; units++) {
            while (kma_scatter_units(right, shift) < units)
                right++;
            shim::check(kma_scatter_class_of(units, shift) == right, "the class for a size");
        }
        for (uint c = 0; c < kma_scatter_classes(shift); c++) {
            const kma_scatter_size size = kma_scatter_size_of(c, shift);
            shim::check(size.spots == (1u << shift) / size.units || kma_scatter_class_of(size.units, shift) != c, "blocks");
            const std::pair<uint, uint> divisors[] = {{size.units, size.by_units}, {size.spots, size.by_spots}};
            for (const auto &[divisor, by] : divisors)
                for (ulong number = 0; number <= 0xffffffff; number = number * 3 / 2 + 1)
                    for (uint a = static_cast<uint>(number) - 1; a != static_cast<uint>(number) + 2; a++) {
                        const kma_scatter_quotient q = kma_scatter_divide(a, divisor, by);
                        shim::check(q.whole == a / divisor && q.rest == a % divisor, "a division");
                    }
        }
    }
    for (uint units = 1; units <= KMA_SLAB_MOST; units++) {
        const uint its = kma_slab_units(kma_slab_class_of(units));
        shim::check(its >= units && (units <= 8 ? its == units : (its - units) * 8 < its), "a class wastes too much");
    }
}

// Memory that begins at a unit.
struct section {
    ulong unit, bytes;
};

// The plan has as many parts as fit into `bytes`, or as there may be, and each section lies behind the one before, the
// parts behind the last. `end_of(n)`: the units of a heap with n parts; `within(n)`: the parts of one of n bytes.
template <class End, class Within>
void check_plan(ulong bytes, ulong parts, ulong most, uint begin, uint part_units, const End &end_of, const Within &within,
                std::initializer_list<section> sections)
{
    const ulong units = std::min(bytes / KMA_UNIT, ulong{0xffffffff}), first = ulong{begin} * KMA_UNIT;
    shim::check(parts == 0 || (end_of(parts) <= units && parts <= most), "a plan with too many parts");
    shim::check(parts == most || end_of(parts + 1) > units, "a plan with too few parts");
    shim::check(parts == 0 || end_of(parts) == begin + parts * part_units, "parts do not begin where they should");
    ulong behind = 0;
    for (const section &each : sections) {
        shim::check(parts == 0 || each.unit >= behind, "sections of a plan overlap");
        behind = each.unit + kma_whole_units(each.bytes);
    }
    shim::check(parts == 0 || begin >= behind, "parts overlap metadata");
    for (const ulong fewer : {bytes / 2, first / 2, ~ulong{0}}) {
        const ulong fit = fewer < first ? 0 : (fewer - first) / KMA_UNIT / part_units;
        shim::check(within(fewer) == std::min(fit, parts), "parts of a heap of another size");
    }
}

inline void check_superblock_plan(ulong bytes, uint shift, bool atomic64)
{
    const ulong most = atomic64 ? 0xfffffffeul : std::min(ulong{65534}, (ulong{1} << (31 - shift)) - 2);
    const auto end_of = [shift](ulong superblocks) {
        ulong end;
        kma_superblock_plan_of(static_cast<uint>(superblocks), shift, 0, &end);
        return end;
    };
    const kma_superblock_plan plan = kma_superblock_plan_for(bytes, shift, 0, atomic64);
    const ulong n = plan.superblocks;
    check_plan(bytes, n, most, plan.begin, 1u << shift, end_of,
               [&](ulong fewer) { return kma_superblock_plan_within(plan, fewer).superblocks; },
               {{0, sizeof(kma_superblock)}, {plan.states, n * sizeof(kma_superblock_state)},
                {plan.sets, 4ul * plan.size_classes * plan.set_words},
                {plan.queue, KMA_SUPERBLOCK_QUEUE_BYTES + (n + 1) * KMA_SUPERBLOCK_NODE_BYTES},
                {plan.bitmaps, 4 * n * plan.bitmap_words}});
    shim::check(kma_superblock_plan_growing(bytes, bytes / 2, shift, 0, atomic64).room == n, "a heap that does not grow");
}

inline void check_scatter_plan(ulong bytes, uint shift, uint super_shift)
{
    const auto end_of = [&](ulong pages) {
        ulong end;
        kma_scatter_plan_of(static_cast<uint>(pages), shift, super_shift, 0, &end);
        return end;
    };
    const kma_scatter_plan plan = kma_scatter_plan_for(bytes, shift, super_shift, 0);
    check_plan(bytes, plan.pages, 1u << 24, plan.begin, 1u << shift, end_of,
               [&](ulong fewer) { return kma_scatter_plan_within(plan, fewer).pages; },
               {{0, sizeof(kma_scatter)}, {plan.cursors, 4ul * plan.places * KMA_SCATTER_SIZES},
                {plan.full, 4ul * plan.supers}, {plan.table, 4ul * plan.pages},
                {plan.trees, 4ul * plan.tree_words * (kma_scatter_classes(shift) + 1)},
                {plan.bitmaps, 4 * (ulong{plan.pages} << shift) / 32}});
    shim::check(plan.begin % (KMA_SCATTER_ALIGN / KMA_UNIT) == 0, "pages are not aligned");
    shim::check(plan.supers == (ulong{plan.pages} + (1u << super_shift) - 1) >> super_shift, "regions");
    shim::check(plan.places == std::clamp(std::bit_floor(plan.pages / 256), 1u, KMA_SCATTER_PLACES), "shards");
}

inline void check_slab_plan(ulong bytes, uint cursors, uint debug)
{
    const auto end_of = [&](ulong frames) {
        ulong end;
        kma_slab_plan_of(static_cast<uint>(frames), cursors, debug, &end);
        return end;
    };
    const kma_slab_plan plan = kma_slab_plan_growing(bytes, bytes, cursors, debug);
    const ulong trees = 4ul * plan.tree_words * KMA_SLAB_TREES, guard = debug >= 2 ? plan.guard : plan.words;
    check_plan(bytes, plan.frames, ~0u, plan.begin, KMA_SLAB_FRAME_UNITS, end_of,
               [&](ulong fewer) { return kma_slab_plan_within(plan, fewer).frames; },
               {{0, sizeof(kma_slab)}, {plan.current, 4ul * plan.shards * KMA_SLAB_PAGE_CLASSES},
                {plan.used, 4ul * plan.frames}, {plan.trees, trees}, {guard, 0}, {plan.words, 4ul * plan.frames * 32}});
    if (plan.frames == 0)
        return;
    shim::check(plan.begin % 256 == 0 && (debug >= 2 ? plan.words > plan.guard : plan.guard == 0), "frames, and the guard");
    shim::check(plan.shards == std::min(plan.room, 2u) && plan.cursors == std::min(plan.room, cursors), "shards, cursors");
    kma_slab heap{};
    heap.plan = plan;
    for (uint band = 0; band < 2; band++)
        for (uint cursor = 0; cursor < plan.cursors && plan.rounds[band] != 0; cursor++) {
            const uint lines = 1u << (band == 0 ? KMA_SLAB_FEW_SHIFT : KMA_SLAB_MANY_SHIFT);
            const auto share = [&](uint round) { return kma_slab_share(&heap, band, cursor, round); };
            const uint last = share(plan.rounds[band] - 1);
            shim::check(share(plan.rounds[band]) == share(0), "shares do not come round");
            shim::check(last % lines == 0 && last + lines <= plan.frames * 32, "a share beyond the heap");
        }
}

inline void check_plans()
{
    for (const bool atomic64 : {false, true})
        for (uint shift = 2; shift <= KMA_SUPERBLOCK_MAX_SHIFT; shift += 5)
            for (ulong bytes = 0; bytes < ulong{1} << 42; bytes = bytes * 3 + 5000)
                check_superblock_plan(bytes, shift, atomic64);
    for (uint shift = KMA_SCATTER_MIN_SHIFT; shift <= KMA_SCATTER_MAX_SHIFT; shift += 5)
        for (const uint super_shift : {0u, 1u, 6u, KMA_SCATTER_MAX_SUPER_SHIFT})
            for (ulong bytes = 0; bytes < ulong{1} << 42; bytes = bytes * 3 + 2000)
                check_scatter_plan(bytes, shift, super_shift);
    for (const uint cursors : {1u, 2u})
        for (const uint debug : {0u, 2u})
            for (ulong bytes = 0; bytes < ulong{1} << 40; bytes = bytes * 3 / 2 + 3000)
                check_slab_plan(bytes, cursors, debug);
}

} // namespace calls
