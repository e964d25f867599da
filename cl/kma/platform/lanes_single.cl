// Lanes where the compiler offers none: each work-item is a group of one.
#ifndef KMA_PLATFORM_LANES_SINGLE_CL
#define KMA_PLATFORM_LANES_SINGLE_CL

#define KMA_LANES_HAVE_FIRST
#define KMA_LANES_HAVE_MATCH
#define KMA_LANES_HAVE_SCAN

static inline uint kma_lane_id(void)
{
    return 0;
}

static inline kma_lanes kma_lanes_active(void)
{
    return 1;
}

static inline uint kma_lanes_shuffle(kma_lanes group, uint value, uint lane)
{
    (void)group;
    (void)lane;
    return value;
}

static inline uint kma_lanes_first(kma_lanes group, uint value)
{
    (void)group;
    return value;
}

static inline kma_lanes kma_lanes_ballot(kma_lanes group, bool mine)
{
    (void)group;
    return mine ? 1 : 0;
}

static inline void kma_lanes_sync(kma_lanes group)
{
    (void)group;
}

static inline kma_lanes kma_lanes_match(kma_lanes group, uint value, uint bits)
{
    (void)value;
    (void)bits;
    return group;
}

static inline kma_scan kma_lanes_scan(kma_lanes group, uint value)
{
    (void)group;
    kma_scan scan;
    scan.before = 0;
    scan.total = value;
    return scan;
}

#endif
