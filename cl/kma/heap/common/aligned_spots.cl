// Blocks that are aligned by their place: of a size that is no multiple of the alignment, side by
// side from an aligned start on, every so many-th one is. Which are free tells a bitmap with a bit
// for each.
//
// Nothing keeps account of them, so a search is bounded: what a request costs that finds none does
// not depend on the heap's size.
#ifndef KMA_HEAP_COMMON_ALIGNED_SPOTS_CL
#define KMA_HEAP_COMMON_ALIGNED_SPOTS_CL

#include "kma/platform/bits.cl"
#include "kma/platform/memory.cl"

#define KMA_NO_SPOT 0xffffffffu

// Looks of one search, at pages and at words of bitmaps.
#ifndef KMA_ALIGNED_LOOKS
#define KMA_ALIGNED_LOOKS 1024u
#endif

// One in so many blocks of `units` is aligned to `align` units, a power of two of which `units` is
// no multiple.
static inline uint kma_aligned_step(uint units, uint align)
{
    return align / (units & (0u - units));
}

// The first aligned spot, from the aligned one with number `spot` on, whose bit is clear;
// KMA_NO_SPOT if there is none, or none in the next `*looks` words.
static inline uint kma_aligned_find(global kma_atomic_u32 *bitmap, uint spots, uint step, uint spot,
                                    uint *looks)
{
    // of a word's bits, if it has any
    const uint aligned = step < 32 ? 0xffffffffu / ((1u << step) - 1) : 1;
    // Ends with the spots.
    for (; spot < spots && *looks != 0; spot = max(spot / 32 * 32 + 32, spot + step)) {
        const uint behind = spots - spot / 32 * 32;
        const uint mask = aligned & (behind < 32 ? (uint)kma_bits_below(behind) : 0xffffffffu);
        const uint is_clear = ~kma_load_u32(&bitmap[spot / 32], KMA_RELAXED) & mask;
        (*looks)--;
        if (is_clear != 0)
            return spot / 32 * 32 + kma_lowest_bit(is_clear);
    }
    return KMA_NO_SPOT;
}

// Takes an aligned spot for the caller, which has a reservation for any one spot of the bitmap:
// sets its bit. KMA_NO_SPOT if there is none. Acquires what its last owner did.
static inline uint kma_aligned_claim(global kma_atomic_u32 *bitmap, uint spots, uint step)
{
    uint looks = spots; // more than there are words
    uint spot = 0;
    for (;;) { // once more only if another set the bit that was clear
        spot = kma_aligned_find(bitmap, spots, step, spot, &looks);
        if (spot == KMA_NO_SPOT)
            return spot;
        const uint bit = 1u << (spot % 32);
        if ((kma_fetch_or_u32(&bitmap[spot / 32], bit, KMA_ACQUIRE) & bit) == 0)
            return spot;
    }
}

#endif
