// A pause for back-off: leaves the memory system to other lanes for a while, where the device has
// an instruction for that; elsewhere does nothing. Correctness must not depend on it. A lane may
// look for another lane's work between pauses, but only a bounded number of times.
//
//   void kma_pause(uint nanoseconds)     about that long, up to a million
#ifndef KMA_PLATFORM_PAUSE_CL
#define KMA_PLATFORM_PAUSE_CL

#include "kma/platform/target.cl"

static inline void kma_pause(uint nanoseconds)
{
#if KMA_IS_NV && KMA_NV_ARCH >= 70
    // PTX ISA: between 0 and twice as long
    __asm__ volatile("nanosleep.u32 %0;" ::"r"(nanoseconds));
#elif defined(__AMDGCN__)
    for (uint slept = 0; slept < nanoseconds; slept += 32)
        __builtin_amdgcn_s_sleep(1); // 64 clocks
#else
    (void)nanoseconds;
#endif
}

#endif
