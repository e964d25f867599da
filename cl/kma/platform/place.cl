// Where a work-item runs, as a number, from which structures with many writers choose a shard.
// Work-items with the same number are close in time and in caches. A hint: two places may have the
// same number, and a work-item may move.
#ifndef KMA_PLATFORM_PLACE_CL
#define KMA_PLATFORM_PLACE_CL

#include "kma/platform/target.cl"

#if KMA_IS_NV
// Returns the multiprocessor. Volatile: it may change while a kernel runs, and the compiler must
// not keep it.
static inline uint kma_place(void)
{
    uint place;
    __asm__ volatile("mov.u32 %0, %%smid;" : "=r"(place));
    return place;
}

// Returns a part of the multiprocessor, for words with too many simultaneous writers: eight lanes
// of every eighth warp. Lanes that have diverged run side by side.
static inline uint kma_near_place(void)
{
    uint warp, lane;
    __asm__ volatile("mov.u32 %0, %%warpid;" : "=r"(warp));
    __asm__ volatile("mov.u32 %0, %%laneid;" : "=r"(lane));
    return kma_place() << 5 | (warp & 7u) << 2 | lane / 8;
}

// Returns one number for each warp that the multiprocessor runs at the time.
static inline uint kma_warp_place(void)
{
    uint warp;
    __asm__ volatile("mov.u32 %0, %%warpid;" : "=r"(warp));
    return kma_place() << 6 | (warp & 63u);
}
#elif defined(KMA_PLACE_SUPPLIED)
// The including program defines kma_place (the tests' host shim).
#elif KMA_IS_CPU
// Returns the thread, by the address of its stack. Does not ask for the work-item's number: PoCL
// copies a function that does into the kernel, with all functions that call it.
static inline uint kma_place(void)
{
    volatile uint here;
    return ((uint)((size_t)&here >> 16) * 2654435761u) >> 16;
}
#else
// Returns the work-group: OpenCL does not expose where a work-item runs.
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

// Returns a number that differs between lanes that run side by side, as the start of a search. A
// hint.
static inline uint kma_spread(void)
{
#if KMA_IS_CPU && KMA_LANES == KMA_LANES_SINGLE
    return kma_place(); // a thread runs its work-items one after the other
#else
    return (uint)kma_linear_global_id();
#endif
}

#endif
