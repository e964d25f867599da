// Where a work-item runs, as a number: work-items of one place are near each other in time and
// caches. Structures that many write spread their writers by it. A hint: two places may have one
// number, and a work-item may move.
#ifndef KMA_PLATFORM_PLACE_CL
#define KMA_PLATFORM_PLACE_CL

#include "kma/platform/target.cl"

#if KMA_IS_NV
// The multiprocessor. (It may change while a kernel runs, so that the compiler must not keep it:
// volatile.)
static inline uint kma_place(void)
{
    uint place;
    __asm__ volatile("mov.u32 %0, %%smid;" : "=r"(place));
    return place;
}

// A part of it, for what too many would write at the same time: eight lanes of every eighth warp of
// the multiprocessor, since lanes that have diverged run side by side.
static inline uint kma_near_place(void)
{
    uint warp, lane;
    __asm__ volatile("mov.u32 %0, %%warpid;" : "=r"(warp));
    __asm__ volatile("mov.u32 %0, %%laneid;" : "=r"(lane));
    return kma_place() << 5 | (warp & 7u) << 2 | lane / 8;
}

// One for each warp that the multiprocessor runs at the time.
static inline uint kma_warp_place(void)
{
    uint warp;
    __asm__ volatile("mov.u32 %0, %%warpid;" : "=r"(warp));
    return kma_place() << 6 | (warp & 63u);
}
#elif defined(KMA_PLACE_SUPPLIED)
// The including program defined it (the host shim of the tests).
#elif KMA_IS_CPU
// The thread, by where its stack is. (PoCL copies a function that asks for the work-item's number
// into the kernel, and all that call it; so this is not such a one.)
static inline uint kma_place(void)
{
    volatile uint here;
    return ((uint)((size_t)&here >> 16) * 2654435761u) >> 16;
}
#else
// OpenCL does not tell: the work-group.
static inline uint kma_place(void)
{
    return (uint)get_group_id(0) + (uint)get_group_id(1) * 31u + (uint)get_group_id(2) * 1009u;
}
#endif

#if !KMA_IS_NV
static inline uint kma_near_place(void)
{
    return kma_place();
}

static inline uint kma_warp_place(void)
{
    return kma_place();
}
#endif

static inline ulong kma_linear_global_id(void)
{
    return get_global_id(0) +
           get_global_size(0) * (get_global_id(1) + get_global_size(1) * (ulong)get_global_id(2));
}

// A number in which those differ who run side by side, each lane from each other, for where to
// begin a search. A hint, too.
static inline uint kma_spread(void)
{
#if KMA_IS_CPU && KMA_LANES == KMA_LANES_SINGLE
    return kma_place(); // whose work-items come one after the other
#else
    return (uint)kma_linear_global_id();
#endif
}

#endif
