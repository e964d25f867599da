// The scatter heap: ScatterAlloc (Steinberger, Kenzel, Kainz, Schmalstieg: ScatterAlloc: Massively
// Parallel Dynamic Memory Allocation for the GPU, InPar 2012, chapters 5 and 6), without its locks.
//
// Memory consists of pages. A page is split into blocks of one size, by the first request that
// takes it. A request hashes its size and its shard to a page, reserves blocks there, and claims
// their bits. If the page is full or has another size, the request goes on to other pages. A page
// without blocks is free, and may be split for another size.
//
//   scatter/layout.cl    the picture in memory, and the sizes of blocks
//   scatter/pages.cl     a page: reservations, bits, and how it becomes free
//   scatter/regions.cl   which pages have free blocks: bit trees (lockfree/bit_tree.cl)
//   scatter/place.cl     where a search begins
//   scatter/take.cl      malloc by lanes together
//   scatter/runs.cl      requests above a page
//   scatter/release.cl   free
//   scatter/init.cl      preparation and growth
//
// Names in the code: a block of a page is a chunk, its number in the page a spot, a region (the
// paper's super block) a super, a shard a place.
//
// Differences from the paper: sizes are rounded up to classes. Bits of pages with more than 32
// blocks lie outside the pages: nothing initializes them when a page is split, and no stray write
// meets them. Bit trees say which pages have free blocks, and of which size; the paper counts full
// pages. Requests above a page may be served anywhere.
//
// Limits: requests above one region give NULL and a record; alignments are at most 4,096.
#ifndef KMA_HEAP_SCATTER_CL
#define KMA_HEAP_SCATTER_CL

#undef kma_scatter // kma.cl's, if it came first
#include "kma/heap/common/blocks.cl"
#include "kma/heap/common/error_log.cl"
#include "kma/heap/common/guard.cl"
#include "kma/heap/common/ref.cl"
#include "kma/heap/scatter/init.cl"
#include "kma/heap/scatter/release.cl"
#include "kma/heap/scatter/runs.cl"
#include "kma/heap/scatter/take.cl"

// Bytes of the allocated block at `ptr`; 0 if there is none.
static inline size_t kma_scatter_block_bytes(global kma_scatter *heap, global void *ptr)
{
    const kma_scatter_heap sc = kma_scatter_open(heap);
    const kma_scatter_spot_at at = kma_scatter_spot_of(&sc, ptr);
    if (at.error != KMA_ERROR_CODES || !kma_scatter_is_taken(&sc, at))
        return 0;
    if (at.own.size_class == KMA_SCATTER_HEAD)
        return ((size_t)kma_load_u32(kma_scatter_bitmap(&sc, at.page), KMA_RELAXED)
                << sc.plan.shift) *
               KMA_UNIT;
    return (size_t)at.own.size.units * KMA_UNIT;
}

#define KMA_KIND scatter
#define KMA_KIND_COLD KMA_COLD_IN_DEBUG
#if KMA_DEBUG >= 2
#include "kma/heap/common/guarded.cl" // kma_scatter_retire, _empty_quarantine, _living
#endif

// A request in the heap's terms: a block of a page, or a run of pages.
typedef struct kma_scatter_demand {
    kma_scatter_own own; // KMA_SCATTER_CLASSES: no block of a page
    uint align;     // in units
    uint least;     // the class of the smallest block that is large enough, at any alignment
    uint pages;     // of a run; 0: none
} kma_scatter_demand;

// Translates a request. Neither a block nor a run for no bytes and, with a report, for a request
// that no heap of this plan could serve.
static inline kma_scatter_demand kma_scatter_need(const kma_scatter_heap *sc, size_t align,
                                                  size_t bytes)
{
    kma_scatter_demand need;
    need.own = kma_scatter_own_of(sc, KMA_SCATTER_CLASSES);
    need.align = 1;
    need.least = KMA_SCATTER_CLASSES;
    need.pages = 0;
    if (bytes == 0)
        return need;
    if (!kma_can_align(sc->heap, align, KMA_SCATTER_ALIGN)) {
        kma_report(&sc->heap->header, KMA_ERROR_BAD_ALIGNMENT, KMA_NULL, align);
        return need;
    }
    const uint shift = sc->plan.shift;
    const ulong most = (ulong)min(1u << sc->plan.super_shift, sc->plan.room) << shift;
    ulong room = bytes;
#if KMA_DEBUG >= 2
    room = kma_guarded_bytes(align, bytes); // with free space for any alignment
    align = KMA_UNIT;
#endif
    if (room > most * KMA_UNIT) {
        kma_report(&sc->heap->header, KMA_ERROR_TOO_LARGE, KMA_NULL, bytes);
        return need;
    }
    const uint units = (uint)kma_whole_units(room);
    need.align = align <= KMA_UNIT ? 1 : (uint)align / KMA_UNIT;
    if (units > 1u << shift) {
        need.pages = ((units - 1) >> shift) + 1;
        return need;
    }
    need.least = kma_scatter_class_of(units, shift);
    uint size_class = kma_scatter_class_of(max(units, need.align), shift);
    // ends: a whole page is a multiple
    while (need.align != 1 && kma_scatter_units(size_class, shift) % need.align != 0)
        size_class++;
    need.own = kma_scatter_own_of(sc, size_class);
    return need;
}

// Returns `bytes` of uninitialized memory at an offset from the heap's start that is a multiple of
// `align`, or NULL: for 0 bytes without a record; with one if there is no memory, `bytes` exceeds a
// region, or `align` is not a power of two up to 4,096 that divides the heap's address. Alignments
// below 16 count as 16. Any work-item, converged or not. Acquires: comes after the free of the same
// memory.
//
// Lanes that are here together with one class share atomics: one to draw pages, one for each page
// that they reserve in, one for each 32 bits of its bitmap that they claim.
static inline KMA_COLD_IN_DEBUG global void *kma_scatter_aligned_alloc(global kma_scatter *heap,
                                                                       size_t align, size_t bytes)
{
#if KMA_DEBUG
    if (!kma_heap_is(heap, KMA_KIND_SCATTER))
        return (global void *)0;
#endif
    const kma_scatter_heap sc = kma_scatter_open(heap);
    const kma_scatter_demand need = kma_scatter_need(&sc, align, bytes);
    const bool wants = need.own.size_class < KMA_SCATTER_CLASSES || need.pages != 0;
    const kma_lanes together = kma_lanes_alike(kma_lanes_active(), (ulong)heap);
    kma_ref block = KMA_NULL;
    // With a quarantine, larger blocks serve only after that is empty.
    const bool any_size = KMA_DEBUG < 2;
    if (kma_lane_in(together)) // else the lane is of another heap than the leader's
        block = kma_scatter_take(&sc, together, need.own);
    if (block == KMA_NULL && need.own.size_class < KMA_SCATTER_CLASSES)
        block = kma_scatter_take_anywhere(&sc, need.own, need.align, any_size);
    if (block == KMA_NULL && need.least < KMA_SCATTER_CLASSES && need.align != 1)
        block = kma_scatter_take_aligned(
            &sc, need.least, need.align,
            kma_load_u32(kma_scatter_cursor(&sc, kma_place(), need.own.size_class), KMA_RELAXED));
    if (need.pages != 0)
        block = kma_scatter_take_run(&sc, need.pages);
#if KMA_DEBUG >= 2
    for (uint tries = 3; block == KMA_NULL && wants && tries != 0; tries--) {
        // again: other lanes may be about to free what they took out
        kma_scatter_empty_quarantine(heap);
        block = need.pages != 0 ? kma_scatter_take_run(&sc, need.pages)
                                : kma_scatter_take_anywhere(&sc, need.own, need.align, tries == 1);
    }
    if (block != KMA_NULL && block != KMA_SCATTER_DAMAGED)
        block = kma_guard_open(&heap->header, block, align <= KMA_UNIT ? 1 : (uint)align / KMA_UNIT,
                               bytes);
#endif
    if (block != KMA_NULL && block != KMA_SCATTER_DAMAGED)
        return kma_deref_in(heap, block);
    if (wants)
        kma_report(&heap->header, block == KMA_NULL ? KMA_ERROR_OUT_OF_MEMORY : KMA_ERROR_DAMAGED,
                   KMA_NULL, bytes);
    return (global void *)0;
}

#include "kma/heap/common/allocate.cl" // kma_scatter_malloc, _calloc, _ref_of, _deref
// Lanes that free together share atomics: one for the blocks in a word of a bitmap, one for those
// of a page.
#include "kma/heap/common/free.cl" // kma_scatter_free, _usable_size

// For realloc: a new block with the old one's alignment.
static inline global void *kma_scatter_replace(global kma_scatter *heap, global void *ptr,
                                               size_t usable, size_t bytes)
{
    return kma_scatter_aligned_alloc(heap, kma_kept_align(heap, ptr, usable, KMA_SCATTER_ALIGN),
                                     bytes);
}

#include "kma/heap/common/realloc.cl" // kma_scatter_realloc, _realloc_sized
#undef KMA_KIND
#undef KMA_KIND_COLD

#if KMA_DEBUG >= 3
#define kma_scatter_malloc(heap, bytes) KMA_TAGGED(kma_scatter_malloc(heap, bytes))
#define kma_scatter_calloc(heap, count, size) KMA_TAGGED(kma_scatter_calloc(heap, count, size))
#define kma_scatter_aligned_alloc(heap, align, bytes)                                              \
    KMA_TAGGED(kma_scatter_aligned_alloc(heap, align, bytes))
#define kma_scatter_realloc(heap, ptr, bytes) KMA_TAGGED(kma_scatter_realloc(heap, ptr, bytes))
#define kma_scatter_realloc_sized(heap, ptr, old_bytes, bytes) \
    KMA_TAGGED(kma_scatter_realloc_sized(heap, ptr, old_bytes, bytes))
#endif

#endif
