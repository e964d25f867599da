// Lanes as OpenCL sub-groups. Ballot, shuffle and the non-uniform built-ins act on the work-items
// that are active at the call, which are the group by its contract. Sub-groups of more than 64 are
// not supported.
#ifndef KMA_PLATFORM_LANES_SUBGROUP_CL
#define KMA_PLATFORM_LANES_SUBGROUP_CL

#define KMA_LANES_HAVE_FIRST
#define KMA_LANES_HAVE_SCAN

static inline uint kma_lane_id(void)
{
    return get_sub_group_local_id();
}

static inline kma_lanes kma_lanes_of_ballot(uint4 ballot)
{
    return ((ulong)ballot.y << 32) | ballot.x;
}

static inline kma_lanes kma_lanes_active(void)
{
    // never taken, which the compiler does not know: rule 3 of lanes.cl
    if (get_sub_group_local_id() >= 64)
        return 0;
    return kma_lanes_of_ballot(sub_group_ballot(1));
}

static inline uint kma_lanes_shuffle(kma_lanes group, uint value, uint lane)
{
    (void)group;
    return sub_group_shuffle(value, lane);
}

static inline uint kma_lanes_first(kma_lanes group, uint value)
{
    (void)group;
    return sub_group_broadcast_first(value);
}

static inline kma_lanes kma_lanes_ballot(kma_lanes group, bool mine)
{
    (void)group;
    return kma_lanes_of_ballot(sub_group_ballot(mine));
}

// The work-items of a sub-group are lanes of one hardware thread: only the compiler needs a fence.
// A sub-group's barrier would need all its work-items, diverged ones included.
static inline void kma_lanes_sync(kma_lanes group)
{
    (void)group;
#if __OPENCL_C_VERSION__ >= 200
    atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE, memory_order_acq_rel, memory_scope_work_group);
#else
    mem_fence(CLK_GLOBAL_MEM_FENCE);
#endif
}

// Sums in 64 bits, which 64 lanes cannot overflow, then saturates. The total is the last lane's,
// not that of sub_group_non_uniform_reduce_add: with calls in both arms of an `if`, Intel's
// compiler (2026.2) gave the lanes of one arm the other's total.
static inline kma_scan kma_lanes_scan(kma_lanes group, uint value)
{
    kma_scan scan;
    scan.before =
        (uint)min(sub_group_non_uniform_scan_exclusive_add((ulong)value), (ulong)UINT_MAX);
    scan.total = kma_lanes_shuffle(group, add_sat(scan.before, value), kma_highest_bit(group));
    return scan;
}

#endif
