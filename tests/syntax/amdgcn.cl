// What clang makes of AMD's lanes: amdgcn.cmake counts the intrinsics in it.
#include "kma/platform/lanes.cl"

kernel void arms(global const uint *in, global ulong *out)
{
    const size_t i = get_global_id(0);
    if ((in[i] & 1u) != 0)
        out[i] = kma_lanes_active() * 3;
    else
        out[i] = kma_lanes_active() + 1;
}

kernel void far(global uint *values)
{
    const size_t i = get_global_id(0);
    const kma_lanes group = kma_lanes_active();
    values[i] = kma_lanes_shuffle(group, values[i], kma_lane_id() ^ 32u) + (uint)group;
}
