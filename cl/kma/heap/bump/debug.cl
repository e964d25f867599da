// With KMA_DEBUG: the prefix of each block of a bump heap, and the checks that use it. With
// KMA_DEBUG 2 and 3 the prefix is a guard (guard.cl). A freed block is never reused: there is no
// quarantine.
#ifndef KMA_HEAP_BUMP_DEBUG_CL
#define KMA_HEAP_BUMP_DEBUG_CL

#include "kma/heap/bump/take.cl"
#include "kma/heap/common/error_log.cl"
#include "kma/heap/common/guard.cl"
#include "kma/heap/common/ref.cl"

static inline global kma_bump_block *kma_bump_block_of(global kma_bump *heap, kma_ref ref)
{
    return (global kma_bump_block *)kma_deref_in(heap, ref - kma_bump_front(KMA_DEBUG));
}

// Returns the ref of `ptr` if a block can start there: aligned, after a prefix, in memory that was
// handed out. Else KMA_NULL.
static inline kma_ref kma_bump_checked_ref(global kma_bump *heap, global void *ptr)
{
    const size_t offset = (size_t)ptr - (size_t)heap; // huge for a pointer below the heap
    const size_t end =
        (size_t)min((ulong)kma_bump_load_head(&heap->head, KMA_RELAXED), (ulong)heap->header.limit);
    if (offset % KMA_UNIT != 0 || offset / KMA_UNIT >= end ||
        offset / KMA_UNIT < (size_t)heap->header.begin + kma_bump_front(KMA_DEBUG))
        return KMA_NULL;
    return (kma_ref)(offset / KMA_UNIT);
}

#if KMA_DEBUG == 1
// Begins the life of the block at `ref` in the units [first, first + units), which are the
// caller's. Clears prefixes that are left there from before a reset: a pointer into this block must
// not match one.
static inline void kma_bump_open_block(global kma_bump *heap, kma_ref ref, ulong bytes, uint first,
                                       uint units)
{
    for (uint unit = first; unit < first + units; unit++)
        kma_store_u32(&kma_bump_block_of(heap, unit + 1)->state, 0, KMA_RELAXED);
    kma_bump_block_of(heap, ref)->bytes = bytes;
    kma_store_u32(&kma_bump_block_of(heap, ref)->state, KMA_BLOCK_LIVE ^ ref, KMA_RELAXED);
}
#endif

// Ends the life of the block at `ptr`. Of several frees of one block exactly one succeeds. The
// others, and frees of a pointer that is no block, are logged. Any lane.
static inline void kma_bump_close_block(global kma_bump *heap, global void *ptr)
{
    const kma_ref ref = kma_bump_checked_ref(heap, ptr);
#if KMA_DEBUG >= 2
    if (ref == KMA_NULL)
        kma_report(&heap->header, KMA_ERROR_INVALID_FREE, kma_wrong_ref(&heap->header, ptr), 0);
    else
        kma_guard_close(&heap->header, ref, kma_guard_raw(&heap->header, ref) != KMA_NULL,
                        KMA_BLOCK_FREED);
#else
    uint state = 0;
    if (ref != KMA_NULL)
        state = kma_cas_u32(&kma_bump_block_of(heap, ref)->state, KMA_BLOCK_LIVE ^ ref,
                            KMA_BLOCK_FREED ^ ref, KMA_RELAXED);
    if (ref == KMA_NULL || (state != (KMA_BLOCK_LIVE ^ ref) && state != (KMA_BLOCK_FREED ^ ref)))
        kma_report(&heap->header, KMA_ERROR_INVALID_FREE, kma_wrong_ref(&heap->header, ptr), 0);
    else if (state == (KMA_BLOCK_FREED ^ ref))
        kma_report(&heap->header, KMA_ERROR_DOUBLE_FREE, ref, kma_bump_block_of(heap, ref)->bytes);
#endif
}

// Returns the prefix of the living block that starts at `ptr`; NULL if there is none.
static inline global kma_bump_block *kma_bump_live_block(global kma_bump *heap, global void *ptr)
{
    const kma_ref ref = kma_bump_checked_ref(heap, ptr);
    if (ref == KMA_NULL ||
        kma_load_u32(&kma_bump_block_of(heap, ref)->state, KMA_RELAXED) != (KMA_BLOCK_LIVE ^ ref))
        return (global kma_bump_block *)0;
#if KMA_DEBUG >= 2
    if (!kma_guard_sum_is_right(kma_guard_block_of(&heap->header, ref), ref))
        return (global kma_bump_block *)0;
#endif
    return kma_bump_block_of(heap, ref);
}

// Returns the bytes that the owner of a block of `bytes` may use.
static inline ulong kma_bump_usable(ulong bytes)
{
    return KMA_DEBUG >= 2 ? bytes : kma_whole_units(bytes) * KMA_UNIT;
}

// True if `ptr` is NULL or a living block of at least `old_bytes`, rounded up to whole units; else
// logs an error. `*block` becomes the prefix of that block, or NULL.
static inline bool kma_bump_check_realloc(global kma_bump *heap, global void *ptr, size_t old_bytes,
                                          size_t bytes, global kma_bump_block **block)
{
    *block = ptr ? kma_bump_live_block(heap, ptr) : (global kma_bump_block *)0;
    const bool is_block =
        *block && old_bytes <= ((*block)->bytes + KMA_UNIT - 1) / KMA_UNIT * KMA_UNIT;
    if (ptr && !is_block)
        kma_report(&heap->header, KMA_ERROR_INVALID_FREE, kma_wrong_ref(&heap->header, ptr), bytes);
    return !ptr || is_block;
}

#endif
