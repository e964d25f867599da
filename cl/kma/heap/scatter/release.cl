// Free: from a pointer to its block, its bit, and its page.
#ifndef KMA_HEAP_SCATTER_RELEASE_CL
#define KMA_HEAP_SCATTER_RELEASE_CL

#include "kma/platform/lanes.cl"
#include "kma/heap/common/error_log.cl"
#include "kma/heap/scatter/place.cl"
#include "kma/heap/scatter/runs.cl"

// The page and block to which a pointer leads. `error` is KMA_ERROR_CODES if a block may begin
// there, else the error of a free.
typedef struct kma_scatter_spot_at {
    uint page;
    kma_scatter_own own; // the page's class; KMA_SCATTER_HEAD: a run begins here
    uint spot;
    uint error;
} kma_scatter_spot_at;

static inline kma_scatter_spot_at kma_scatter_spot_of(const kma_scatter_heap *sc, global void *ptr)
{
    kma_scatter_spot_at at;
    at.page = at.spot = 0;
    at.own = kma_scatter_own_of(sc, KMA_SCATTER_CLASSES);
    at.error = KMA_ERROR_INVALID_FREE;
    const size_t offset = (size_t)ptr - (size_t)sc->heap; // huge for a pointer below the heap
    if (offset % KMA_UNIT != 0 || offset / KMA_UNIT < sc->plan.begin ||
        offset / KMA_UNIT >= sc->plan.limit)
        return at;
    const uint unit = (uint)(offset / KMA_UNIT) - sc->plan.begin;
    const uint within = unit & ((1u << sc->plan.shift) - 1);
    at.page = unit >> sc->plan.shift;
    const uint word = kma_load_u32(kma_scatter_page(sc, at.page), KMA_RELAXED);
    const uint split = kma_scatter_split(word);
    bool is_start = split == KMA_SCATTER_HEAD && within == 0;
    if (split < KMA_SCATTER_CLASSES) {
        at.own = kma_scatter_own_of(sc, split);
        const kma_scatter_quotient spot =
            kma_scatter_divide(within, at.own.size.units, at.own.size.by_units);
        at.spot = spot.whole;
        is_start = spot.rest == 0 && at.spot < at.own.size.spots;
    } else {
        at.own.size_class = split;
    }
    if (is_start)
        at.error = word & KMA_SCATTER_FREE ? KMA_ERROR_DOUBLE_FREE : KMA_ERROR_CODES;
    return at;
}

// True if the block at `at`, which has no error, is allocated.
static inline bool kma_scatter_is_taken(const kma_scatter_heap *sc, kma_scatter_spot_at at)
{
    global kma_atomic_u32 *const bitmap = kma_scatter_bitmap(sc, at.page);
    return at.own.size_class == KMA_SCATTER_HEAD ? kma_load_u32(bitmap, KMA_RELAXED) != 0
                                                : kma_scatter_is_set(bitmap, at.spot);
}

// Clears the bits of the blocks that the lanes free (`is_chunk`; other lanes have none), by one
// atomic for each word. True in lanes that cleared a set bit. Called by all lanes of `group`.
// Releases.
static inline bool kma_scatter_clear(const kma_scatter_heap *sc, kma_lanes group,
                                     kma_scatter_spot_at at, bool is_chunk)
{
    const uint words_shift = sc->plan.shift - 5;
    const uint bit = is_chunk ? 1u << (at.spot % 32) : 0;
    const uint number = (at.page << words_shift) + at.spot / 32;
    const kma_lanes together = kma_lanes_match(group, is_chunk ? number : 0xffffffffu, 32);
    const uint bits = kma_lanes_or(group, together, bit);
    kma_lanes_sync(group); // the leader's release covers all lanes of its word
    global kma_atomic_u32 *const word = kma_scatter_bitmap(sc, at.page) + at.spot / 32;
    const bool is_leader = kma_lane_leads(together);
    // two lanes free the same block: each lane by its own atomic
    const bool clash = (uint)popcount(bits) != kma_lanes_count(together);
    uint cleared = 0;
    if (is_chunk && (clash || is_leader))
        cleared = kma_scatter_clear_bits(word, clash ? bit : bits);
    cleared = kma_lanes_shuffle(group, cleared, clash ? kma_lane_id() : kma_lowest_bit(together));
    return (cleared & bit) != 0;
}

// Subtracts the blocks that the lanes freed (`was_mine`) from their pages' counts, by
// one atomic for each page. Bits first, then the count: a reservation always finds a clear bit.
// Called by all lanes of `group`.
static inline void kma_scatter_settle(const kma_scatter_heap *sc, kma_lanes group,
                                      kma_scatter_spot_at at, bool was_mine)
{
    const kma_lanes together = kma_lanes_match(group, was_mine ? at.page : 0xffffffffu, 32);
    kma_lanes_sync(group); // the leader's subtraction comes after all their bits
    if (was_mine && kma_lane_leads(together) &&
        kma_scatter_give(sc, at.own, at.page, kma_lanes_count(together)))
        kma_scatter_reactivate(sc, at.page);
}

// Frees a block by the caller alone. False if its bit was clear. Releases.
static inline bool kma_scatter_give_alone(const kma_scatter_heap *sc, kma_scatter_spot_at at)
{
    global kma_atomic_u32 *const word = kma_scatter_bitmap(sc, at.page) + at.spot / 32;
    if (kma_scatter_clear_bits(word, 1u << (at.spot % 32)) == 0)
        return false;
    if (kma_scatter_give(sc, at.own, at.page, 1))
        kma_scatter_reactivate(sc, at.page);
    return true;
}

// Frees the block at `ptr`, or reports why that is impossible. Any lane, converged or not.
// Releases.
static inline void kma_scatter_release(global kma_scatter *heap, global void *ptr)
{
    const kma_scatter_heap sc = kma_scatter_open(heap);
    kma_scatter_spot_at at = kma_scatter_spot_of(&sc, ptr);
    const bool is_run = at.own.size_class == KMA_SCATTER_HEAD;
    const bool is_chunk = at.error == KMA_ERROR_CODES && !is_run;
    bool was_mine = false;
    const kma_lanes group = kma_lanes_alike(kma_lanes_active(), (ulong)heap);
    if (kma_lane_in(group)) {
        was_mine = kma_scatter_clear(&sc, group, at, is_chunk);
        kma_scatter_settle(&sc, group, at, was_mine);
    } else if (is_chunk) {
        was_mine = kma_scatter_give_alone(&sc, at);
    }
    if (is_run && at.error == KMA_ERROR_CODES)
        was_mine = kma_scatter_give_run(&sc, at.page);
    if (at.error == KMA_ERROR_CODES && !was_mine)
        at.error = KMA_ERROR_DOUBLE_FREE;
    if (at.error != KMA_ERROR_CODES)
        kma_report(&heap->header, at.error, kma_wrong_ref(&heap->header, ptr), 0);
}

#endif
