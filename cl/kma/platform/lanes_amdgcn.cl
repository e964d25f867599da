// Lanes on AMD: clang's amdgcn built-ins. A wavefront runs in lockstep under its exec mask, so the mask is the group.
#ifndef KMA_PLATFORM_LANES_AMDGCN_CL
#define KMA_PLATFORM_LANES_AMDGCN_CL

static inline uint kma_lane_id(void)
{
    return __builtin_amdgcn_mbcnt_hi(~0u, __builtin_amdgcn_mbcnt_lo(~0u, 0u));
}

static inline kma_lanes kma_lanes_active(void)
{
    return __builtin_amdgcn_read_exec();
}

static inline uint kma_lanes_shuffle(kma_lanes group, uint value, uint lane)
{
    (void)group;
    return (uint)__builtin_amdgcn_ds_bpermute((int)(lane * 4u), (int)value);
}

// Older clangs know the comparison that yields a mask for either wavefront size, newer ones a ballot for each.
static inline kma_lanes kma_lanes_ballot(kma_lanes group, bool mine)
{
#if __has_builtin(__builtin_amdgcn_uicmp)
    const kma_lanes ones = __builtin_amdgcn_uicmp((uint)mine, 0u, 33); // 33: LLVM's "not equal"
#elif defined(__AMDGCN_WAVEFRONT_SIZE) && __AMDGCN_WAVEFRONT_SIZE == 32
    const kma_lanes ones = __builtin_amdgcn_ballot_w32(mine);
#else
    const kma_lanes ones = __builtin_amdgcn_ballot_w64(mine);
#endif
    return ones & group;
}

// A wavefront is one instruction stream over one cache: only the compiler must be told.
static inline void kma_lanes_sync(kma_lanes group)
{
    (void)group;
    __builtin_amdgcn_fence(__ATOMIC_ACQ_REL, "wavefront");
}

#endif
