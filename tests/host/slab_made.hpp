// Slabs of slots of different sizes, as 32 lanes take them together: the groups of these tests have fewer lanes.
#pragma once

#include "heap_slab.hpp"

struct made_slab {
    uint first; // line
    uint lines;
    uint offsets[KMA_SL_SLOTS + 1]; // units in front of each slot
    uint owners;
};

enum class slab_sizes : uint { small, plain, coarse };

// Takes lines at `first` and makes of them a slab with a slot of each size, of those that are not 0. Small ones are 1
// to 4 units, and 32; plain ones up to 127; coarse ones are counted in fours.
inline made_slab make_planes(kma_slab *heap, uint first, const uint (&sizes)[KMA_SL_SLOTS], slab_sizes kind)
{
    const kma_sl_heap sl = kma_sl_open(heap);
    const bool is_small = kind == slab_sizes::small, is_coarse = kind == slab_sizes::coarse;
    made_slab made{first, 0, {}, 0};
    uint planes[KMA_SL_PLANES] = {}, count = is_small ? 2 : 0;
    for (uint slot = 0; slot < KMA_SL_SLOTS; slot++) {
        const uint value = is_small ? sizes[slot] - 1 : is_coarse ? (sizes[slot] + 3) / 4 : sizes[slot];
        made.offsets[slot + 1] = made.offsets[slot] + (is_coarse ? value * 4 : sizes[slot]);
        made.owners |= sizes[slot] != 0 ? 1u << slot : 0;
        for (uint p = 0; p < KMA_SL_PLANES && slot != KMA_SL_SLOTS - 1; p++)
            if ((value >> p & 1u) != 0) {
                planes[p] |= 1u << slot;
                count = max(count, p + 1);
            }
    }
    const uint total = made.offsets[KMA_SL_SLOTS];
    made.lines = is_small ? (made.offsets[KMA_SL_SLOTS - 1] + 4 <= 96 ? 3 : 4) : max((total + 31) / 32, 2 + count);
    shim::check(kma_sl_take_lines(heap, first, made.lines), "no lines for a slab");
    for (uint p = 0; p < count; p++)
        kma_store_u32(kma_sl_word(&sl, first + p + (is_small ? 1 : 2)), KMA_SL_DATA | planes[p], KMA_RELAXED);
    if (!is_small)
        kma_store_u32(kma_sl_word(&sl, first + 1),
                      kma_sl_mixed_header(made.lines, is_coarse, sizes[KMA_SL_SLOTS - 1] != 0, count), KMA_RELAXED);
    kma_sl_put_backs(&sl, first, made.lines, 0, 1);
    kma_sl_put_mark(&sl, first, is_small ? KMA_SL_MARK_SMALL : KMA_SL_MARK_HEADER);
    kma_store_u32(kma_sl_word(&sl, first), made.owners, KMA_RELEASE);
    return made;
}
