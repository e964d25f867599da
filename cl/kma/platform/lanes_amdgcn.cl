// Lanes on AMD: clang's amdgcn built-ins. A wavefront runs in lockstep under its exec mask, which
// is the group.
#ifndef KMA_PLATFORM_LANES_AMDGCN_CL
#define KMA_PLATFORM_LANES_AMDGCN_CL

static inline uint kma_lane_id(void)
{
    return __builtin_amdgcn_mbcnt_hi(~0u, __builtin_amdgcn_mbcnt_lo(~0u, 0u));
}

// The `if` is never taken, which the compiler does not know: rule 3 of lanes.cl.
static inline kma_lanes kma_lanes_active(void)
{
    uint self = kma_lane_id();
    __asm__("" : "+v"(self));
    if (self >= 64)
        return 0;
    return __builtin_amdgcn_read_exec();
}

// Returns the value of lane `lane`, which is the same number for all lanes.
static inline uint kma_lanes_read(uint value, uint lane)
{
    return (uint)__builtin_amdgcn_readlane((int)value, __builtin_amdgcn_readfirstlane((int)lane));
}

#define KMA_LANES_HAVE_FIRST
static inline uint kma_lanes_first(kma_lanes group, uint value)
{
    return kma_lanes_read(value, kma_lowest_bit(group));
}

// ds_bpermute reads any lane on GFX8, GFX9 and GFX12, and in wavefronts of 32. Elsewhere (GFX10 and
// GFX11 with 64 lanes, and a compiler that does not name the family) it reads lanes of the caller's
// half only. There each lane of the group is read in turn.
static inline uint kma_lanes_shuffle(kma_lanes group, uint value, uint lane)
{
#if defined(__GFX8__) || defined(__GFX9__) || defined(__GFX12__) || \
    (defined(__AMDGCN_WAVEFRONT_SIZE) && __AMDGCN_WAVEFRONT_SIZE == 32)
    (void)group;
    return (uint)__builtin_amdgcn_ds_bpermute((int)(lane * 4u), (int)value);
#else
    uint result = value;
    for (kma_lanes left = group; left != 0; left &= left - 1) { // once for each lane
        const uint from = kma_lowest_bit(left);
        const uint its = kma_lanes_read(value, from);
        result = from == lane ? its : result;
    }
    return result;
#endif
}

// Older clangs have the comparison that yields a mask for either wavefront size, newer ones a
// ballot for each size.
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

// A wavefront is one instruction stream over one cache: only the compiler needs a fence.
static inline void kma_lanes_sync(kma_lanes group)
{
    (void)group;
    __builtin_amdgcn_fence(__ATOMIC_ACQ_REL, "wavefront");
}

#endif
