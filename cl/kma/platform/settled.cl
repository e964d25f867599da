// Loads from the first-level cache, where the device has one that relaxed loads go past.
//
//   uint kma_load_settled_u32(word)   of a word that is never written again: what was stored before this, in the sense of memory.cl's
//                                     orders, by the last who ever does
//   uint kma_load_older_u32(word)     the ref of something: what was stored last of all that happened before this, or something newer. An
//                                     acquire, but on NVIDIA only for atomics on what the ref leads
//                                     to, and for stores to it
//
// With the first nothing is left to race with. The second may miss what others store at the time,
// and is for what tells by itself that it is no more the newest, as a chunk that is full. On NVIDIA
// it is a load of the work-group's scope, which by PTX's model orders nothing. That atomics and
// stores through the ref come after what its owner did before he released it rests on the hardware:
// they depend on the ref, and all meet in the second-level cache, where that was before the ref.
// Plain loads may find older words in the first.
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
