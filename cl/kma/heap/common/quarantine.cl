// The quarantine: freed blocks wait in a ring until others push them out, so that what still writes
// into them, or frees them once more, is found before somebody else has their memory.
//
// Who puts a block in takes out what was in its place, and is from then on the only one who has
// that: he looks it over and frees it truly. Nobody waits. A work-item stopped for ever in between
// costs those two blocks.
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

// Puts `ref` in; returns the ref that leaves for it, or 0. Release: who takes `ref` out sees how it
// was left. Acquire: the same for what leaves.
static inline uint kma_quarantine_swap(global kma_quarantine *quarantine, uint ref)
{
    const uint place = kma_fetch_add_u32(&quarantine->next, 1, KMA_RELAXED) % KMA_QUARANTINE;
    return kma_exchange_u32(&quarantine->refs[place], ref, KMA_ACQ_REL);
}

// Takes out what is in a place below KMA_QUARANTINE; 0 if that is nothing. Acquire: as above.
static inline uint kma_quarantine_take(global kma_quarantine *quarantine, uint place)
{
    if (kma_load_u32(&quarantine->refs[place], KMA_RELAXED) == 0)
        return 0;
    return kma_exchange_u32(&quarantine->refs[place], 0, KMA_ACQUIRE);
}

#endif
