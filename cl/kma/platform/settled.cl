// Loads from the first-level cache, where the device has one that relaxed loads bypass.
//
//   uint kma_load_settled_u32(word)  a word that is never written again, with its last store before
//                                    this load: returns that value
//   uint kma_load_older_u32  (word)  a ref: returns the last one stored before this load, or a
//                                    newer one. Acquire; on NVIDIA only for atomics on, and
//                                    stores to, the memory that the ref names
//
// "Before" is happens-before by memory.cl's orders. The first load has no store to race with. The
// second may miss concurrent stores. It is for refs to memory that shows itself that it is not the
// newest, such as a full extent of an arena.
//
// On NVIDIA the second is a load of work-group scope, which orders nothing by PTX's model. The
// order of atomics and stores through the ref after the owner's writes rests on the hardware: they
// depend on the ref, and all meet in the second-level cache, where the owner's writes arrived
// before the ref. Plain loads may find older words in the first-level cache.
#ifndef KMA_PLATFORM_SETTLED_CL
#define KMA_PLATFORM_SETTLED_CL

#include "kma/platform/memory.cl"

static inline uint kma_load_settled_u32(global kma_atomic_u32 *at)
{
#if KMA_MEMORY == KMA_MEMORY_NV
    return *(const global uint *)&at->word;
#else
    return kma_load_u32(at, KMA_RELAXED);
#endif
}

static inline uint kma_load_older_u32(global kma_atomic_u32 *at)
{
#if KMA_MEMORY == KMA_MEMORY_NV
    uint value;
    __asm__ volatile("ld.relaxed.cta.global.u32 %0, [%1];"
                     : "=r"(value)
                     : "l"(&at->word)
                     : "memory");
    return value;
#else
    return kma_load_u32(at, KMA_ACQUIRE);
#endif
}

#endif
