// The slab heap, the default one.
//
// Memory is frames of 32 lines of 256 bytes. One allocator of lines (slab/lines.cl) serves two
// paths:
//
//   a whole warp     draws lines at a cursor, claims them by fetch_or of used bits, and makes slabs
//                    of them: slots side by side. Each lane computes its slot (slab/warp_alloc.cl).
//   any other lane   claims a slot of its shard's current page by one compare-and-swap. A page is a
//                    frame with slots of one class (slab/pages.cl). Without a free slot there the
//                    lane searches nearby, makes a new page, or searches the heap
//                    (slab/stray_alloc.cl).
//
// Lanes of a whole warp take the second path if the warp's draw and its search for lines gave them
// no slot, or if the first path does not serve the warp's requests.
//
// Each read-modify-write changes the very word that says what the lane relies on. If another lane
// freed and reused the memory between two steps, the read-modify-write fails, or its result is
// valid for the new use. Only a claimed slot of a mixed slab is checked once more, and freed if it
// has another size now. slab/layout.cl has the words; docs/slab-heap.md has counts, proofs and
// bounds.
//
// A request up to 8 KiB fits if a slot of its class or a larger one is free, or enough lines are
// free side by side in one frame. Above 8 KiB it fits if enough whole frames are free side by side:
// up to 256 KiB in one group of 32. A lone work-item gets NULL only if nothing fits.
//
// Two exceptions for alignments. Above 16 bytes: a slot that is aligned only by its position is
// searched in 1,024 frames of a class's tree, from the shard's home on. Above 256 bytes: lines are
// found where a free run is long enough for any alignment.
//
// The design follows the thesis's list for a KMA-2 (7.2). Lanes are hashed over the words of a page
// as in ScatterAlloc.
#ifndef KMA_HEAP_SLAB_CL
#define KMA_HEAP_SLAB_CL

#undef kma_slab // kma.cl's, if it came first
#include "kma/heap/common/blocks.cl"
#include "kma/heap/common/error_log.cl"
#include "kma/heap/common/guard.cl"
#include "kma/heap/common/ref.cl"
#include "kma/heap/slab/init.cl"
#include "kma/heap/slab/large.cl"
#include "kma/heap/slab/stray_alloc.cl"
#include "kma/heap/slab/warp_alloc.cl"

// Bytes of the allocated block at `ptr`; 0 if there is none.
static inline size_t kma_slab_block_bytes(global kma_slab *heap, global void *ptr)
{
    const kma_slab_spot spot = kma_slab_spot_of(heap, ptr);
    if (spot.error != KMA_ERROR_CODES ||
        (kma_load_u32(kma_slab_word(heap, spot.line), KMA_RELAXED) & spot.bit) == 0)
        return 0;
    return (size_t)spot.units * KMA_UNIT;
}

#define KMA_KIND slab
#define KMA_KIND_COLD KMA_COLD_IN_DEBUG
#if KMA_DEBUG >= 2
#include "kma/heap/common/guarded.cl" // kma_slab_retire, _empty_quarantine, _living
#endif

// The first attempt of a malloc: drawn lines for a whole warp, a slot of a page near the caller for
// any other lane. KMA_NULL if that finds nothing; kma_slab_alloc_alone goes on. Acquires.
static inline kma_ref kma_slab_take_quickly(global kma_slab *heap, size_t align, size_t bytes)
{
#if KMA_SHORT_PATHS
    if (kma_slab_is_together(heap, 1))
        return kma_slab_take_together(heap, align, bytes, false);
#endif
    const bool has_page = align <= KMA_UNIT && kma_is_power_of_two(align) &&
                          bytes - 1 < KMA_SLAB_MOST / 8 * KMA_UNIT && heap->plan.frames != 0;
    return has_page ? kma_slab_take_near(heap, kma_slab_class_of((uint)kma_whole_units(bytes)))
                    : KMA_NULL;
}

// A request in the heap's terms.
typedef struct kma_slab_need {
    uint units;      // 0: nothing to allocate
    uint align;      // in units
    uint size_class; // of a slot; KMA_SLAB_CLASSES or above: a run
    uint error;      // what to report if no block is found
} kma_slab_need;

// Translates a request; units is 0 if there is nothing to allocate, or no heap could serve it.
static inline kma_slab_need kma_slab_need_of(global kma_slab *heap, size_t align, size_t bytes)
{
    kma_slab_need need;
    need.units = 0;
    need.align = 1;
    need.size_class = KMA_SLAB_CLASSES;
    need.error = KMA_ERROR_OUT_OF_MEMORY;
    if (!kma_can_align(heap, align, KMA_SLAB_ALIGN))
        need.error = KMA_ERROR_BAD_ALIGNMENT;
    if (bytes == 0 || need.error != KMA_ERROR_OUT_OF_MEMORY)
        return need;
    ulong room = bytes;
#if KMA_DEBUG >= 2
    room = kma_guarded_bytes(align, bytes); // with free space for any alignment
    align = KMA_UNIT;
#endif
    if (room > (ulong)heap->plan.room * KMA_SLAB_FRAME_UNITS * KMA_UNIT) {
        need.error = KMA_ERROR_TOO_LARGE;
        return need;
    }
    need.units = (uint)kma_whole_units(room);
    need.align = align <= KMA_UNIT ? 1 : (uint)align / KMA_UNIT;
    need.size_class = kma_slab_class_of(need.units);
    while (kma_slab_units(need.size_class) % need.align != 0) // 48 times at most
        need.size_class++;
    return need;
}

// Takes a block by every way but the whole warp's. `has_looked`: kma_slab_take_near found no slot.
// `is_last`: also a slot of a larger class. KMA_NULL if none is found. Acquires.
static inline KMA_COLD kma_ref kma_slab_take_anyhow(global kma_slab *heap, kma_slab_need need,
                                                    bool has_looked, bool is_last)
{
    if (need.units == 0)
        return KMA_NULL;
    if (need.size_class < KMA_SLAB_CLASSES)
        return kma_slab_take_elsewhere(heap, need.size_class, need.align, has_looked, is_last);
    const uint lines = kma_slab_whole_lines(need.units);
    kma_ref block = kma_slab_take_run(heap, lines);
    while (block == KMA_NULL && kma_slab_end_empty(heap)) // each round ends a page
        block = kma_slab_take_run(heap, lines);
    return block;
}

// The rest of a malloc, when kma_slab_take_quickly found nothing: a whole warp looks for free lines
// in other frames; then each lane is on its own. NULL, with a record, if nothing fits.
static inline KMA_COLD global void *kma_slab_alloc_alone(global kma_slab *heap, size_t align,
                                                         size_t bytes)
{
    bool has_looked = KMA_DEBUG < 2 && align <= KMA_UNIT;
#if KMA_SHORT_PATHS && KMA_DEBUG < 2
    if (kma_slab_is_together(heap, 2)) {
        has_looked = false;
        const kma_ref found = kma_slab_take_together(heap, align, bytes, true);
        if (found != KMA_NULL)
            return kma_deref_in(heap, found);
    }
#endif
    const kma_slab_need need = kma_slab_need_of(heap, align, bytes);
    // else quarantine first
    kma_ref block = kma_slab_take_anyhow(heap, need, has_looked, KMA_DEBUG < 2);
#if KMA_DEBUG >= 2
    for (uint tries = 3; block == KMA_NULL && need.units != 0 && tries != 0; tries--) {
        kma_slab_empty_quarantine(heap); // again: other lanes may be about to free
        block = kma_slab_take_anyhow(heap, need, false, tries == 1);
    }
    if (block != KMA_NULL)
        block = kma_guard_open(&heap->header, block, align <= KMA_UNIT ? 1 : (uint)align / KMA_UNIT,
                               bytes);
#endif
    if (block == KMA_NULL && bytes != 0)
        kma_slab_report(heap, need.error, KMA_NULL,
                        need.error == KMA_ERROR_BAD_ALIGNMENT ? align : bytes);
    return kma_deref_in(heap, block);
}

// Returns `bytes` of uninitialized memory at an offset from the heap's start that is a multiple of
// `align`, or NULL: for 0 bytes without a record; with one if nothing fits, or `align` is not a
// power of two up to 4,096 that divides the heap's address. Alignments below 16 count as 16. Any
// work-item, converged or not. Acquires: comes after the free of the same memory.
static inline KMA_COLD_IN_DEBUG global void *kma_slab_aligned_alloc(global kma_slab *heap,
                                                                    size_t align, size_t bytes)
{
#if KMA_DEBUG
    if (!kma_heap_is(heap, KMA_KIND_SLAB))
        return (global void *)0;
#endif
#if KMA_DEBUG < 2
    const kma_ref block = kma_slab_take_quickly(heap, align, bytes);
    if (block != KMA_NULL)
        return kma_deref_in(heap, block);
#endif
    return kma_slab_alloc_alone(heap, align, bytes);
}

#include "kma/heap/common/allocate.cl" // kma_slab_malloc, _calloc, _ref_of, _deref
#include "kma/heap/common/free.cl"     // kma_slab_free, _usable_size

// For realloc: a new block with the old one's alignment.
static inline global void *kma_slab_replace(global kma_slab *heap, global void *ptr, size_t usable,
                                            size_t bytes)
{
    return kma_slab_aligned_alloc(heap, kma_kept_align(heap, ptr, usable, KMA_SLAB_ALIGN), bytes);
}

#include "kma/heap/common/realloc.cl" // kma_slab_realloc, _realloc_sized
#undef KMA_KIND
#undef KMA_KIND_COLD

#if KMA_DEBUG >= 3
#define kma_slab_malloc(heap, bytes) KMA_TAGGED(kma_slab_malloc(heap, bytes))
#define kma_slab_calloc(heap, count, size) KMA_TAGGED(kma_slab_calloc(heap, count, size))
#define kma_slab_aligned_alloc(heap, align, bytes)                                                 \
    KMA_TAGGED(kma_slab_aligned_alloc(heap, align, bytes))
#define kma_slab_realloc(heap, ptr, bytes) KMA_TAGGED(kma_slab_realloc(heap, ptr, bytes))
#define kma_slab_realloc_sized(heap, ptr, old_bytes, bytes)                                        \
    KMA_TAGGED(kma_slab_realloc_sized(heap, ptr, old_bytes, bytes))
#endif

#endif
