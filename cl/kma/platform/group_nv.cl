// A work-group's sums and maxima on NVIDIA: warps are whole. A call that is collective by
// work-group is so by warp, and warps are consecutive work-items (CUDA C++ Programming Guide, "SIMT
// Architecture"); so a part is a warp, whose lanes are known without asking who has arrived, the
// exchange brings them together, and its last lane alone writes the part's word: nothing is cleared
// before, and nothing is atomic.
#ifndef KMA_PLATFORM_GROUP_NV_CL
#define KMA_PLATFORM_GROUP_NV_CL

#define KMA_GROUP_HAS_WARPS 1

// The lanes of warp `warp`: all, but for the last one.
static inline uint kma_group_lanes(uint warp)
{
    const uint left = kma_group_items() - warp * 32;
    return left < 32 ? (1u << left) - 1u : 0xffffffffu;
}

// The value of the lane that is `distance` below the caller's; his own if there is none.
static inline uint kma_group_from_below(uint lanes, uint value, uint distance)
{
    uint its;
    __asm__ volatile("shfl.sync.up.b32 %0, %1, %2, 0, %3;"
                     : "=r"(its)
                     : "r"(value), "r"(distance), "r"(lanes)
                     : "memory");
    return its;
}

// The sum over the lanes up to the caller's; stays at 2^32 - 1.
static inline uint kma_group_warp_sum(uint lanes, uint value)
{
    const uint lane = kma_lane_id();
    for (uint distance = 1; distance < 32; distance *= 2) {
        const uint its = kma_group_from_below(lanes, value, distance);
        value = lane >= distance ? add_sat(value, its) : value;
    }
    return value;
}

// The largest over the lanes up to the caller's.
static inline uint kma_group_warp_max(uint lanes, uint value)
{
    for (uint distance = 1; distance < 32; distance *= 2)
        value = max(value, kma_group_from_below(lanes, value, distance));
    return value;
}

#endif
