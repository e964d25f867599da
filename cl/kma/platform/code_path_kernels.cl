// Reports to the host which implementation of the platform layer a program uses
// (platform/target.cl).
#ifndef KMA_PLATFORM_CODE_PATH_KERNELS_CL
#define KMA_PLATFORM_CODE_PATH_KERNELS_CL

#include "kma/platform/lanes.cl"
#include "kma/platform/memory.cl"

// One work-group of 64. `path[3]` is the number of lanes in the group of its first work-item.
kernel void kma_code_path_kernel(global uint *path)
{
    const uint met = kma_lanes_count(kma_lanes_active());
    if (get_global_id(0) != 0)
        return;
    path[0] = KMA_MEMORY;
    path[1] = KMA_LANES;
    path[2] = KMA_HAS_ATOMIC64;
    path[3] = met;
}

#endif
