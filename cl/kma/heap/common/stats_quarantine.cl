// With KMA_DEBUG 2 and 3: for the kernels of the kinds with a quarantine. Each includes this file
// with KMA_KIND defined as its name.

// Subtracts the blocks in one work-item's share of the quarantine of a heap at rest. The sums of a
// share may wrap below 0; their total over all shares does not.
static inline void KMA_OF_KIND(_stats_without_quarantine)(global KMA_OF_KIND() * heap,
                                                          kma_heap_stats *sum, size_t me,
                                                          size_t work_items)
{
    global kma_quarantine *quarantine = &kma_guard_of(&heap->header)->quarantine;
    for (size_t i = me; i < KMA_QUARANTINE; i += work_items) {
        const kma_ref ref = kma_load_u32(&quarantine->refs[i], KMA_RELAXED);
        // an empty entry, or damage
        if (ref < heap->header.begin + KMA_GUARD_FRONT || ref >= heap->header.limit)
            continue;
        const kma_ref raw = kma_guard_block_of(&heap->header, ref)->raw;
        const size_t bytes = KMA_OF_KIND(_block_bytes)(heap, kma_deref_in(heap, raw));
        if (bytes == 0)
            continue;
        sum->blocks--;
        sum->used -= bytes;
    }
}
