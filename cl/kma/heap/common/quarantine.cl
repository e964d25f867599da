// The quarantine: freed blocks wait in a ring until later ones push them out. Until then a write
// into a freed block, or its second free, is detected before another lane gets the memory.
//
// A lane that puts a block into an entry takes out the block that was there. That lane alone then
// owns the old block, checks it and returns it to the heap. No lane waits for another. A work-item
// stopped in between costs at most these two blocks.
#ifndef KMA_HEAP_COMMON_QUARANTINE_CL
#define KMA_HEAP_COMMON_QUARANTINE_CL

#include "kma/platform/memory.cl"
#include "kma/heap/common/guard_layout.cl"

static inline void kma_quarantine_init(global kma_quarantine *quarantine, size_t me,
                                       size_t work_items)
{
    for (size_t i = me; i < KMA_QUARANTINE; i += work_items)
        kma_store_u32(&quarantine->refs[i], 0, KMA_RELAXED);
    if (me == 0)
        kma_store_u32(&quarantine->next, 0, KMA_RELAXED);
}

// Puts `ref` in and returns the ref that leaves for it, or 0. Any lane. Release: the lane that
// takes `ref` out sees the block as it was left. Acquire: the same for the ref that leaves.
static inline uint kma_quarantine_swap(global kma_quarantine *quarantine, uint ref)
{
    const uint place = kma_fetch_add_u32(&quarantine->next, 1, KMA_RELAXED) % KMA_QUARANTINE;
    return kma_exchange_u32(&quarantine->refs[place], ref, KMA_ACQ_REL);
}

// Takes out the ref in entry `place`, below KMA_QUARANTINE; 0 if the entry is empty. Any lane.
// Acquire: as kma_quarantine_swap.
static inline uint kma_quarantine_take(global kma_quarantine *quarantine, uint place)
{
    if (kma_load_u32(&quarantine->refs[place], KMA_RELAXED) == 0)
        return 0;
    return kma_exchange_u32(&quarantine->refs[place], 0, KMA_ACQUIRE);
}

#endif
