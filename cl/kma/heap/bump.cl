// The bump heap: a pointer, here called the head, that moves forward past each block it hands out
// (Spliet, thesis 5.2, the "poor man's heap"). The fastest malloc there can be, and the yardstick
// of the others; memory comes back only when the host resets the whole heap.
//
// bump/take.cl has the algorithm, bump/layout.cl the picture in memory, bump/debug.cl the checks of
// KMA_DEBUG.
//
// What this heap cannot do: reuse (free does nothing); know a block's size or state, unless
// KMA_DEBUG is set, which puts a unit in front of each block, or guards it. Without it
// kma_bump_usable_size and kma_bump_realloc do not exist, and kma_bump_realloc_sized takes the old
// size from the caller.
#ifndef KMA_HEAP_BUMP_CL
#define KMA_HEAP_BUMP_CL

#undef kma_bump // kma.cl's, if it came first
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

// Prepares a buffer of `bytes` (at least kma_bump_begin + 1 units, 64 GiB - 32 at most), which may
// become `max_bytes` (`bytes` or less: it does not grow). Called by all work-items of one launch
// that nothing else overlaps. Touches the metadata only.
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

// Frees all blocks at once; every ref and pointer is void. By one work-item of a launch that
// nothing else overlaps.
static inline void kma_bump_reset(global kma_bump *heap)
{
    kma_bump_store_head(&heap->head, heap->header.begin, KMA_RELAXED);
#if KMA_DEBUG >= 2
    kma_guard_init((global kma_guard *)kma_deref_in(heap, kma_bump_guard(KMA_DEBUG)), true, 0, 1);
#endif
}

// The heap's contents were copied into a buffer of `bytes`, this one, and what is behind them
// becomes memory for blocks. Fewer bytes than before or more than max_bytes leave the heap as it
// was. By one work-item of a launch that nothing else overlaps.
static inline void kma_bump_grow(global kma_bump *heap, ulong bytes)
{
    if (bytes < heap->header.bytes || bytes > heap->header.max_bytes)
        return;
    heap->header.bytes = bytes;
    heap->header.limit = kma_bump_limit(KMA_DEBUG, bytes);
}

// Units for a block of `bytes` at a multiple of `align` units, with what is around it; 0 for no
// bytes and, with a report, if that is more than the whole heap, however large it may become.
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

// `bytes` of memory at an offset from the heap's start that is a multiple of `align`, contents
// undefined; NULL for 0 bytes, or with a record if they do not fit or `align` is not a power of two
// up to 2^31 that divides the heap's address. Alignments below 16 are 16. Takes align - 16 bytes
// more than `bytes`, and fails if those do not fit. Any work-item, converged or not; one atomic for
// the lanes that come together, whatever their sizes.
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
    else if (units != 0) // of another heap than the leader's
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

// Ends a block's life; NULL is allowed. Its memory comes back at the next reset only. With
// KMA_DEBUG a pointer that is no block, or free already, goes into the error log and nothing else
// happens; without, it is not noticed.
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

// Gives a block of `old_bytes` the size `bytes`: in place if it shrinks or stays within its last 16
// bytes, else the contents move to a new block, aligned by kma_kept_align. NULL leaves the old
// block as it is, except bytes = 0, which frees it. A NULL `ptr` makes it malloc. With KMA_DEBUG a
// pointer that is no living block of that size gives NULL and a record.
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
// The compiler's message shall say what to do.
#define kma_bump_usable_size the_bump_heap_has_kma_usable_size_only_with_KMA_DEBUG
#define kma_bump_realloc the_bump_heap_has_kma_realloc_only_with_KMA_DEBUG_use_kma_realloc_sized
#else
// The bytes that a block returned by this heap may use; 0 for anything else.
static inline size_t kma_bump_usable_size(global kma_bump *heap, global void *ptr)
{
    if (!ptr || !kma_heap_is(heap, KMA_KIND_BUMP))
        return 0;
    const global kma_bump_block *block = kma_bump_live_block(heap, ptr);
    return block ? kma_bump_usable(block->bytes) : 0;
}

// kma_bump_realloc_sized where the heap itself knows the old size.
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
