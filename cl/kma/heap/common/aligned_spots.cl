// Searches for aligned blocks among blocks of a size that is no multiple of the alignment. Blocks
// of one size lie side by side, the first one aligned. Every step-th block after it is aligned,
// too. A bitmap has a bit for each block, set while the block is taken.
//
// No index of the free aligned blocks exists. Each search is bounded: the cost of a request that
// finds none does not depend on the heap's size.
#ifndef KMA_HEAP_COMMON_ALIGNED_SPOTS_CL
#define KMA_HEAP_COMMON_ALIGNED_SPOTS_CL

#include "kma/platform/bits.cl"
#include "kma/platform/memory.cl"

#define KMA_NO_SPOT 0xffffffffu

// Limit of one search, counted in pages and bitmap words.
#ifndef KMA_ALIGNED_LOOKS
#define KMA_ALIGNED_LOOKS 1024u
#endif

// Returns the distance from one aligned block to the next, in blocks of `units` units. `align`, in
// units, is a power of two that does not divide `units`.
static inline uint kma_aligned_step(uint units, uint align)
{
    return align / (units & (0u - units));
}

// Returns the first aligned spot with a clear bit, from the aligned spot `spot` on. Returns
// KMA_NO_SPOT if there is none, or none in the next `*looks` words. Any lane; relaxed.
static inline uint kma_aligned_find(global kma_atomic_u32 *bitmap, uint spots, uint step, uint spot,
                                    uint *looks)
{
    // the aligned spots of a word that has any
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

// Sets the bit of an aligned spot and returns the spot; KMA_NO_SPOT if there is none. The caller
// has a reservation for any one spot of the bitmap. Acquire: pairs with the release that cleared
// the bit.
static inline uint kma_aligned_claim(global kma_atomic_u32 *bitmap, uint spots, uint step)
{
    uint looks = spots; // more than there are words
    uint spot = 0;
    for (;;) { // repeats only if another lane set the bit first
        spot = kma_aligned_find(bitmap, spots, step, spot, &looks);
        if (spot == KMA_NO_SPOT)
            return spot;
        const uint bit = 1u << (spot % 32);
        if ((kma_fetch_or_u32(&bitmap[spot / 32], bit, KMA_ACQUIRE) & bit) == 0)
            return spot;
    }
}

#endif
