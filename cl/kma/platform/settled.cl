// Loads from the first-level cache, where the device has one that relaxed loads go past.
//
//   uint kma_load_settled_u32(word)   of a word that is never written again: what was stored before this, in the sense of memory.cl's
//                                     orders, by the last who ever does
//   uint kma_load_older_u32(word)     the ref of something: what happened before this was not overwritten before, or something newer.
//                                     Acquires, as far as what the ref leads to goes
//
// With the first nothing is left to race with. The second may miss what others store at the time, and be right if the older one is
// known by itself, as a chunk that is full. On NVIDIA it is one of the work-group's scope. It orders nothing by itself; but what is reached through its value
// is not read before it, and what is there was in the second-level cache before the ref was, where atomics and stores of the
// whole device meet.
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
    __asm__ volatile("ld.relaxed.cta.global.u32 %0, [%1];" : "=r"(value) : "l"(&at->word) : "memory");
    return value;
#else
    return kma_load_u32(at, KMA_ACQUIRE);
#endif
}

#endif
