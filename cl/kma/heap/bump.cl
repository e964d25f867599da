// The bump heap: a pointer, the head, moves forward past each block it hands out (Spliet, thesis
// 5.2, the "poor man's heap"). No malloc can be faster; it is the baseline for the others. Memory
// is reclaimed only when the host resets the whole heap.
//
//   bump/take.cl     the algorithm
//   bump/layout.cl   the layout in memory
//   bump/debug.cl    the checks of KMA_DEBUG
//
// Limits:
// - free does not make memory reusable.
// - Without KMA_DEBUG the heap does not know a block's size or state. kma_bump_usable_size and
//   kma_bump_realloc do not exist then, and kma_bump_realloc_sized takes the old size from the
//   caller.
#ifndef KMA_HEAP_BUMP_CL
#define KMA_HEAP_BUMP_CL

#undef kma_bump // defined by kma.cl if that came first
#include "kma/platform/bits.cl"
#include "kma/platform/lanes.cl"
#include "kma/heap/common/blocks.cl"
#include "kma/heap/bump/take.cl"
#include "kma/heap/common/error_log.cl"
#include "kma/heap/common/ref.cl"
#if KMA_DEBUG
#include "kma/heap/bump/debug.cl"
#endif

#define KMA_BUMP_ALIGN 0x80000000u // the largest alignment

// Initialises a heap in a buffer of `bytes`: kma_bump_begin + 1 units to 64 GiB - 32 B. It can grow
// to `max_bytes`; at most `bytes`: it does not grow. Called by all work-items of one launch that no
// other launch overlaps. Writes the metadata only.
static inline void kma_bump_init(global kma_bump *heap, ulong bytes, ulong max_bytes, size_t me,
                                 size_t work_items)
{
    kma_error_log_init(&heap->header.errors, me, work_items);
#if KMA_DEBUG >= 2
    kma_guard_init((global kma_guard *)kma_deref_in(heap, kma_bump_guard(KMA_DEBUG)), false, me,
                   work_items);
#endif
    if (me != 0)
        return;
    kma_heap_header_init(&heap->header, KMA_KIND_BUMP, bytes, max(bytes, max_bytes),
                         kma_bump_begin(KMA_DEBUG), kma_bump_limit(KMA_DEBUG, bytes),
                         kma_bump_guard(KMA_DEBUG));
    kma_bump_store_head(&heap->head, heap->header.begin, KMA_RELAXED);
#if !KMA_HAS_ATOMIC64
    heap->head_high = 0;
#endif
}

// Frees all blocks at once; every ref and pointer becomes invalid. Called by one work-item of a
// launch that no other launch overlaps.
static inline void kma_bump_reset(global kma_bump *heap)
{
    kma_bump_store_head(&heap->head, heap->header.begin, KMA_RELAXED);
#if KMA_DEBUG >= 2
    kma_guard_init((global kma_guard *)kma_deref_in(heap, kma_bump_guard(KMA_DEBUG)), true, 0, 1);
#endif
}

// Grows the heap to `bytes`, the size of this buffer, into which its contents were copied. No
// effect if that is less than before or more than max_bytes. Called by one work-item of a launch
// that no other launch overlaps.
static inline void kma_bump_grow(global kma_bump *heap, ulong bytes)
{
    if (bytes < heap->header.bytes || bytes > heap->header.max_bytes)
        return;
    heap->header.bytes = bytes;
    heap->header.limit = kma_bump_limit(KMA_DEBUG, bytes);
}

// Returns the units for a block of `bytes` at a multiple of `align` units, guards included; 0 for
// no bytes. Returns 0 and logs TOO_LARGE if the heap at its largest has fewer units.
static inline uint kma_bump_units(global kma_bump *heap, ulong bytes, ulong align)
{
    if (bytes == 0)
        return 0;
    const ulong room = kma_bump_limit(KMA_DEBUG, heap->header.max_bytes) - heap->header.begin;
    const ulong around = kma_bump_front(KMA_DEBUG) + align - 1 + kma_bump_back(KMA_DEBUG);
    const ulong units = kma_whole_units(bytes);
    if (units + around > room) {
        kma_report(&heap->header, KMA_ERROR_TOO_LARGE, KMA_NULL, bytes);
        return 0;
    }
    return (uint)(units + around);
}

// Allocates `bytes` at an offset that is a multiple of `align`; contents undefined. Takes `bytes` +
// `align` - 16 bytes. `align` is a power of two up to 2^31 that divides the heap's address; below
// 16 it counts as 16. NULL for 0 bytes; NULL and a record for another `align`, or if there is no
// memory. Any lane; one atomic for all lanes that call together, whatever their sizes.
static inline global void *kma_bump_aligned_alloc(global kma_bump *heap, size_t align, size_t bytes)
{
#if KMA_DEBUG
    if (!kma_heap_is(heap, KMA_KIND_BUMP))
        return (global void *)0;
#endif
    const bool aligns = kma_can_align(heap, align, KMA_BUMP_ALIGN);
    if (!aligns && bytes != 0)
        kma_report(&heap->header, KMA_ERROR_BAD_ALIGNMENT, KMA_NULL, align);
    const uint align_units = !aligns || align <= KMA_UNIT ? 1 : (uint)(align / KMA_UNIT);
    const uint units = aligns ? kma_bump_units(heap, bytes, align_units) : 0;
    const kma_lanes together = kma_lanes_alike(kma_lanes_active(), (ulong)heap);
    uint first = 0;
    if (kma_lane_in(together))
        first = kma_bump_take(heap, together, units);
    else if (units != 0) // this lane's heap is not the leader's
        first = kma_bump_advance(heap, units);
    if (units == 0)
        return (global void *)0;
    if (first == 0) {
        kma_report(&heap->header, KMA_ERROR_OUT_OF_MEMORY, KMA_NULL, bytes);
        return (global void *)0;
    }
    const kma_ref ref = (first + kma_bump_front(KMA_DEBUG) + align_units - 1) & ~(align_units - 1);
#if KMA_DEBUG >= 2
    kma_guard_open(&heap->header, first, align_units, bytes);
#elif KMA_DEBUG
    kma_bump_open_block(heap, ref, bytes, first, units);
#endif
    return kma_deref_in(heap, ref);
}

#define KMA_KIND bump
#include "kma/heap/common/allocate.cl" // kma_bump_malloc, _calloc, _ref_of, _deref
#undef KMA_KIND

// Ends a block's life; NULL is allowed. Its memory comes back at the next reset. With KMA_DEBUG a
// pointer to no living block is logged; without KMA_DEBUG nothing is checked.
static inline void kma_bump_free(global kma_bump *heap, global void *ptr)
{
#if KMA_DEBUG
    if (!ptr || !kma_heap_is(heap, KMA_KIND_BUMP))
        return;
    kma_bump_close_block(heap, ptr);
#else
    (void)heap;
    (void)ptr;
#endif
}

// Resizes a block of `old_bytes` to `bytes`: in place if it shrinks or stays within its last 16
// bytes, else its contents move to a new block, aligned by kma_kept_align. NULL if there is no
// memory; the old block then stays. `bytes` = 0 frees the block and returns NULL. A NULL `ptr`
// makes it malloc. With KMA_DEBUG a pointer that is no living block of that size gives NULL and a
// record.
static inline global void *kma_bump_realloc_sized(global kma_bump *heap, global void *ptr,
                                                  size_t old_bytes, size_t bytes)
{
#if KMA_DEBUG
    if (!kma_heap_is(heap, KMA_KIND_BUMP))
        return (global void *)0;
    global kma_bump_block *block;
    if (!kma_bump_check_realloc(heap, ptr, old_bytes, bytes, &block))
        return (global void *)0;
#endif
    const size_t old_end = (old_bytes + KMA_UNIT - 1) / KMA_UNIT * KMA_UNIT;
    if (ptr && bytes != 0 && bytes <= old_end) {
#if KMA_DEBUG >= 2
        kma_guard_resize(&heap->header, kma_ref_in(heap, ptr), bytes);
#elif KMA_DEBUG
        block->bytes = bytes;
#endif
        return ptr;
    }
    global void *moved =
        kma_bump_aligned_alloc(heap, kma_kept_align(heap, ptr, old_bytes, KMA_BUMP_ALIGN), bytes);
    if (ptr && moved)
        kma_copy_block(moved, ptr, old_bytes);
    if (moved || bytes == 0)
        kma_bump_free(heap, ptr);
    return moved;
}

#if !KMA_DEBUG
// names that show in the compiler's message what to use instead
#define kma_bump_usable_size the_bump_heap_has_kma_usable_size_only_with_KMA_DEBUG
#define kma_bump_realloc the_bump_heap_has_kma_realloc_only_with_KMA_DEBUG_use_kma_realloc_sized
#else
// Returns the bytes that a block of this heap may use; 0 for any other pointer.
static inline size_t kma_bump_usable_size(global kma_bump *heap, global void *ptr)
{
    if (!ptr || !kma_heap_is(heap, KMA_KIND_BUMP))
        return 0;
    const global kma_bump_block *block = kma_bump_live_block(heap, ptr);
    return block ? kma_bump_usable(block->bytes) : 0;
}

// kma_bump_realloc_sized with the old size that the heap has recorded.
static inline global void *kma_bump_realloc(global kma_bump *heap, global void *ptr, size_t bytes)
{
    if (!kma_heap_is(heap, KMA_KIND_BUMP))
        return (global void *)0;
    const global kma_bump_block *block =
        ptr ? kma_bump_live_block(heap, ptr) : (global kma_bump_block *)0;
    return kma_bump_realloc_sized(heap, ptr, block ? block->bytes : 0, bytes);
}
#endif

#if KMA_DEBUG >= 3
#define kma_bump_malloc(heap, bytes) KMA_TAGGED(kma_bump_malloc(heap, bytes))
#define kma_bump_calloc(heap, count, size) KMA_TAGGED(kma_bump_calloc(heap, count, size))
#define kma_bump_aligned_alloc(heap, align, bytes)                                                 \
    KMA_TAGGED(kma_bump_aligned_alloc(heap, align, bytes))
#define kma_bump_realloc(heap, ptr, bytes) KMA_TAGGED(kma_bump_realloc(heap, ptr, bytes))
#define kma_bump_realloc_sized(heap, ptr, old_bytes, bytes) \
    KMA_TAGGED(kma_bump_realloc_sized(heap, ptr, old_bytes, bytes))
#endif

#endif
