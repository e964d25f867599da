// With KMA_DEBUG: what stands in front of each block of a bump heap, and what can be checked by it.
// From 2 on that is a guard (guard.cl); a freed block stays freed, so there is no quarantine.
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

// The ref of `ptr` if a block can start there: aligned, behind a prefix, in memory that was handed
// out; else KMA_NULL.
static inline kma_ref kma_bump_checked_ref(global kma_bump *heap, global void *ptr)
{
    const size_t offset = (size_t)ptr - (size_t)heap; // of a pointer below the heap: huge
    const size_t end =
        (size_t)min((ulong)kma_bump_load_head(&heap->head, KMA_RELAXED), (ulong)heap->header.limit);
    if (offset % KMA_UNIT != 0 || offset / KMA_UNIT >= end ||
        offset / KMA_UNIT < (size_t)heap->header.begin + kma_bump_front(KMA_DEBUG))
        return KMA_NULL;
    return (kma_ref)(offset / KMA_UNIT);
}

#if KMA_DEBUG == 1
// Begins the life of the block at `ref`, whose owner took the units [first, first + units). Clears
// what prefixes of earlier blocks left there before a reset, so that a pointer into this block is
// not taken for one of theirs.
static inline void kma_bump_open_block(global kma_bump *heap, kma_ref ref, ulong bytes, uint first,
                                       uint units)
{
    for (uint unit = first; unit < first + units; unit++)
        kma_store_u32(&kma_bump_block_of(heap, unit + 1)->state, 0, KMA_RELAXED);
    kma_bump_block_of(heap, ref)->bytes = bytes;
    kma_store_u32(&kma_bump_block_of(heap, ref)->state, KMA_BLOCK_LIVE ^ ref, KMA_RELAXED);
}
#endif

// Ends the life of the block at `ptr`: exactly one of several that free the same block does. The
// others, and who frees what is no block, leave a record.
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

// The block that starts at `ptr`, if it is one and lives; else NULL.
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

// What the owner of a block of `bytes` may use.
static inline ulong kma_bump_usable(ulong bytes)
{
    return KMA_DEBUG >= 2 ? bytes : kma_whole_units(bytes) * KMA_UNIT;
}

// Whether `ptr` is NULL or a living block of at least `old_bytes`, rounded up to whole units;
// leaves a record if not. Then `*block` is that block.
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
