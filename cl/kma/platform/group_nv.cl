// A work-group's sums and maxima on NVIDIA, where a part is a warp. Warps are whole: a call that is
// collective by work-group is so by warp, and a warp is consecutive work-items (CUDA C++
// Programming Guide, "SIMT Architecture"). The lanes of a part are known without a look at which
// have arrived; the exchange (shfl.sync) brings them together. The last lane of a warp alone writes
// the part's word, without clearing and without atomics.
#ifndef KMA_PLATFORM_GROUP_NV_CL
#define KMA_PLATFORM_GROUP_NV_CL

#define KMA_GROUP_HAS_WARPS 1

// Returns the lanes of warp `warp`: all 32, except in the last warp.
static inline uint kma_group_lanes(uint warp)
{
    const uint left = kma_group_items() - warp * 32;
    return left < 32 ? (1u << left) - 1u : 0xffffffffu;
}

// Returns the value of the lane `distance` below the caller's; the caller's own if there is none.
static inline uint kma_group_from_below(uint lanes, uint value, uint distance)
{
    uint its;
    __asm__ volatile("shfl.sync.up.b32 %0, %1, %2, 0, %3;"
                     : "=r"(its)
                     : "r"(value), "r"(distance), "r"(lanes)
                     : "memory");
    return its;
}

// Returns the sum over the lanes up to the caller's; saturates at 2^32 - 1.
static inline uint kma_group_warp_sum(uint lanes, uint value)
{
    const uint lane = kma_lane_id();
    for (uint distance = 1; distance < 32; distance *= 2) {
        const uint its = kma_group_from_below(lanes, value, distance);
        value = lane >= distance ? add_sat(value, its) : value;
    }
    return value;
}

// Returns the largest value over the lanes up to the caller's.
static inline uint kma_group_warp_max(uint lanes, uint value)
{
    for (uint distance = 1; distance < 32; distance *= 2)
        value = max(value, kma_group_from_below(lanes, value, distance));
    return value;
}

#endif
