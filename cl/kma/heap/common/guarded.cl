// With KMA_DEBUG 2 and 3: the life of a guarded block (guard.cl) in a heap that reuses memory. The
// kind's file includes this file after its kma_KIND_release and kma_KIND_block_bytes
// (common/free.cl), with KMA_KIND defined as its name.

// Frees a block that has left the quarantine.
static inline void KMA_OF_KIND(_release_held)(global KMA_OF_KIND() *heap, kma_ref ref)
{
    const kma_ref raw = kma_guard_leave(&heap->header, ref);
    if (raw != KMA_NULL)
        KMA_OF_KIND(_release)(heap, kma_deref_in(heap, raw));
}

// Moves a guarded block into the quarantine and frees the block that leaves it in exchange. Logs an
// error if `ptr` is no living block.
static inline void KMA_OF_KIND(_retire)(global KMA_OF_KIND() *heap, global void *ptr)
{
    const kma_ref ref = kma_guard_ref(&heap->header, ptr, heap->header.limit);
    if (ref == KMA_NULL) {
        kma_report(&heap->header, KMA_ERROR_INVALID_FREE, kma_wrong_ref(&heap->header, ptr), 0);
        return;
    }
    const bool is_given =
        KMA_OF_KIND(_block_bytes)(heap, kma_deref_in(heap, kma_guard_raw(&heap->header, ref))) != 0;
    if (!kma_guard_close(&heap->header, ref, is_given, KMA_BLOCK_HELD))
        return;
    const kma_ref out = kma_quarantine_swap(&kma_guard_of(&heap->header)->quarantine, ref);
    if (out != KMA_NULL)
        KMA_OF_KIND(_release_held)(heap, out);
}

// Frees all blocks in the quarantine, looking once at each entry: a later malloc of a lone caller
// fails only if no freed block would do. Work-items begin at different entries and share the
// blocks.
static inline void KMA_OF_KIND(_empty_quarantine)(global KMA_OF_KIND() *heap)
{
    global kma_quarantine *quarantine = &kma_guard_of(&heap->header)->quarantine;
    const uint start = kma_mix32((uint)kma_linear_global_id());
    for (uint i = 0; i < KMA_QUARANTINE; i++) {
        const kma_ref out = kma_quarantine_take(quarantine, (start + i) % KMA_QUARANTINE);
        if (out != KMA_NULL)
            KMA_OF_KIND(_release_held)(heap, out);
    }
}

// Returns the ref of `ptr` if it is a living block, else KMA_NULL.
static inline kma_ref KMA_OF_KIND(_living)(global KMA_OF_KIND() *heap, global void *ptr)
{
    const kma_ref ref = kma_guard_ref(&heap->header, ptr, heap->header.limit);
    const bool lives = ref != KMA_NULL &&
                       KMA_OF_KIND(_block_bytes)(
                           heap, kma_deref_in(heap, kma_guard_raw(&heap->header, ref))) != 0 &&
                       kma_guard_sum_is_right(kma_guard_block_of(&heap->header, ref), ref);
    return lives ? ref : KMA_NULL;
}
