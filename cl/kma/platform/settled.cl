// Loads of words that are never written again.
//
//   uint kma_load_settled_u32(word)   what was stored before this, in the sense of memory.cl's orders, by the last who ever does
//
// Nothing is left to race with, so the load may be a plain one: on NVIDIA from the first-level cache, which relaxed loads go past.
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

#endif
