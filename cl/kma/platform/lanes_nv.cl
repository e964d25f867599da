// Lanes on NVIDIA: PTX (ISA 6.2; match needs sm_70, redux ISA 7.0 and sm_80). Since Volta the lanes
// of a warp advance independently. `activemask` returns the lanes that are here at this instant.
// Every later exchange names that set, and its `.sync` brings the set together again.
#ifndef KMA_PLATFORM_LANES_NV_CL
#define KMA_PLATFORM_LANES_NV_CL

#define KMA_LANES_ALL 0xffffffffu

static inline uint kma_lane_id(void)
{
    uint lane;
    __asm__("mov.u32 %0, %%laneid;" : "=r"(lane));
    return lane;
}

static inline uint kma_lane_of_all(void)
{
    return kma_lane_id();
}

// The `if` is always taken, which neither compiler knows; the assembler knows that %laneid < 32.
// - The OpenCL compiler cannot move activemask: rule 3 of lanes.cl.
// - For the assembler the set may differ from lane to lane. If it concludes that all lanes here
//   have the same set, as in a function that is called, its vote.sync and match.sync also count the
//   lanes of another group of the warp that arrived by itself (driver 580;
//   tests/heap/conformance/called_test.cpp).
static inline kma_lanes kma_lanes_active(void)
{
    uint self;
    uint mask = 0;
    __asm__("mov.u32 %0, %%lanemask_eq;" : "=r"(self));
    if (self != 0)
        __asm__ volatile("activemask.b32 %0;" : "=r"(mask)::"memory");
    return mask;
}

static inline uint kma_lanes_shuffle(kma_lanes group, uint value, uint lane)
{
    uint result;
    __asm__ volatile("shfl.sync.idx.b32 %0, %1, %2, 0x1f, %3;"
                     : "=r"(result) : "r"(value), "r"(lane), "r"((uint)group) : "memory");
    return result;
}

static inline kma_lanes kma_lanes_ballot(kma_lanes group, bool mine)
{
    uint mask;
    __asm__ volatile("{ .reg .pred p; setp.ne.u32 p, %1, 0; vote.sync.ballot.b32 %0, p, %2; }"
                     : "=r"(mask) : "r"((uint)mine), "r"((uint)group) : "memory");
    return mask;
}

// PTX ISA, "bar.warp.sync": guarantees memory ordering among the participating threads.
static inline void kma_lanes_sync(kma_lanes group)
{
    __asm__ volatile("bar.warp.sync %0;" ::"r"((uint)group) : "memory");
}

#if KMA_NV_ARCH >= 70
#define KMA_LANES_HAVE_MATCH
#define KMA_LANES_APART
static inline kma_lanes kma_lanes_match(kma_lanes group, uint value, uint bits)
{
    uint mask;
    const uint low = bits < 32 ? value & ((1u << bits) - 1u) : value;
    __asm__ volatile("match.any.sync.b32 %0, %1, %2;"
                     : "=r"(mask)
                     : "r"(low), "r"((uint)group)
                     : "memory");
    return mask;
}
#endif

#if KMA_NV_ARCH >= 80
#define KMA_LANES_HAVE_OR
static inline uint kma_lanes_or(kma_lanes group, kma_lanes some, uint value)
{
    uint joined;
    __asm__ volatile("redux.sync.or.b32 %0, %1, %2;"
                     : "=r"(joined)
                     : "r"(value), "r"((uint)some)
                     : "memory");
    (void)group;
    return joined;
}
#endif

#endif
