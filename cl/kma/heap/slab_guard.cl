// With KMA_DEBUG 2: the life of a guarded block (guard.cl) in a slab heap.
#ifndef KMA_HEAP_SLAB_GUARD_CL
#define KMA_HEAP_SLAB_GUARD_CL

#include "kma/platform/bits.cl"
#include "kma/heap/guard.cl"
#include "kma/heap/slab_release.cl"

// Whether the heap gave somebody the block that starts at unit `raw`.
static inline bool kma_slab_gave(global kma_slab *heap, kma_ref raw)
{
    const kma_sl_heap sl = kma_sl_open(heap);
    const kma_sl_spot at = kma_sl_spot_of(heap, kma_deref_in(heap, raw));
    return at.error == KMA_ERROR_CODES && kma_sl_is_taken(&sl, at);
}

// Frees what has left the quarantine.
static inline void kma_slab_let_go(global kma_slab *heap, kma_ref ref)
{
    const kma_ref raw = kma_guard_leave(&heap->header, ref);
    if (raw != KMA_NULL)
        kma_slab_release(heap, kma_deref_in(heap, raw));
}

// Ends the life of a guarded block: into the quarantine, and what leaves that for it is free.
static inline void kma_slab_retire(global kma_slab *heap, global void *ptr)
{
    const kma_ref ref = kma_guard_ref(&heap->header, ptr, heap->header.limit);
    if (ref == KMA_NULL) {
        kma_report(&heap->header, KMA_ERROR_INVALID_FREE, kma_wrong_ref(&heap->header, ptr), 0);
        return;
    }
    const bool is_mine = kma_slab_gave(heap, kma_guard_raw(&heap->header, ref));
    if (!kma_guard_close(&heap->header, ref, is_mine, KMA_BLOCK_HELD))
        return;
    const kma_ref out = kma_quarantine_swap(&kma_guard_of(&heap->header)->quarantine, ref);
    if (out != KMA_NULL)
        kma_slab_let_go(heap, out);
}

// Frees all that the quarantine holds: one look at each of its places, so that a lone caller gets NULL only if no freed
// block would have done. Work-items begin at different places, or the first would take all and the others nothing.
static inline void kma_slab_empty_quarantine(global kma_slab *heap)
{
    global kma_quarantine *quarantine = &kma_guard_of(&heap->header)->quarantine;
    const uint start = kma_mix32((uint)kma_linear_global_id());
    for (uint i = 0; i < KMA_QUARANTINE; i++) {
        const kma_ref out = kma_quarantine_take(quarantine, (start + i) % KMA_QUARANTINE);
        if (out != KMA_NULL)
            kma_slab_let_go(heap, out);
    }
}

// The ref of `ptr` if it is a living block, else KMA_NULL.
static inline kma_ref kma_slab_living(global kma_slab *heap, global void *ptr)
{
    const kma_ref ref = kma_guard_ref(&heap->header, ptr, heap->header.limit);
    const bool lives = ref != KMA_NULL && kma_slab_gave(heap, kma_guard_raw(&heap->header, ref)) &&
                       kma_guard_sum_is_right(kma_guard_block_of(&heap->header, ref), ref);
    return lives ? ref : KMA_NULL;
}

#endif
