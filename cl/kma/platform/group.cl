// What the work-items of a work-group tell each other: sums and the largest of a number that each has, through words in local
// memory, which the kernel declares:
//
//   local kma_group_words words;
//   const kma_scan sums = kma_group_scan(&words, value);
//
// Collective: all work-items of the work-group call them, in the same order, as they do barrier(). Any group size. Lanes that arrive
// together are summed by the lanes' own means (lanes.cl); their leader adds that to the word of his part of the group, 32
// work-items or more. So sums go by parts in the work-items' order; within a part, by who came first; within a lane group, by lanes.
#ifndef KMA_PLATFORM_GROUP_CL
#define KMA_PLATFORM_GROUP_CL

#include "kma/platform/lanes.cl"

#define KMA_GROUP_PARTS 32u

typedef struct kma_group_words {
    uint part[KMA_GROUP_PARTS]; // sums
    uint most;     // of kma_group_max; of kma_group_scan: 1 if a part's sum passed 2^32 - 1
    uint told;     // by one work-item to the others
} kma_group_words;

static inline uint kma_group_items(void)
{
    return (uint)(get_local_size(0) * get_local_size(1) * get_local_size(2));
}

// The calling work-item's number in its work-group.
static inline uint kma_group_me(void)
{
    return (uint)(get_local_id(0) + get_local_size(0) * (get_local_id(1) + get_local_size(1) * get_local_id(2)));
}

// Work-items of a part.
static inline uint kma_group_part_items(void)
{
    return max(KMA_GROUP_PARTS, (kma_group_items() + KMA_GROUP_PARTS - 1) / KMA_GROUP_PARTS);
}

static inline void kma_group_clear(local kma_group_words *words)
{
    barrier(CLK_LOCAL_MEM_FENCE); // others may still read what an earlier call left there
    for (uint i = kma_group_me(); i < KMA_GROUP_PARTS; i += kma_group_items())
        words->part[i] = 0;
    if (kma_group_me() == 0)
        words->most = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
}

// The sums of `value` over the work-items before the caller, and over all; the total stays at 2^32 - 1 if it would pass that, and then
// the other is of no use.
static inline kma_scan kma_group_scan(local kma_group_words *words, uint value)
{
    kma_group_clear(words);
    const kma_lanes group = kma_lanes_active();
    const kma_scan lanes = kma_lanes_scan(group, value);
    const uint part = kma_lanes_first(group, kma_group_me() / kma_group_part_items());
    uint before = 0;
    if (kma_lane_leads(group)) {
        before = atomic_add(&words->part[part], lanes.total);
        if (before + lanes.total < before)
            atomic_max(&words->most, 1u);
    }
    kma_scan sums;
    sums.before = kma_lanes_first(group, before) + lanes.before;
    barrier(CLK_LOCAL_MEM_FENCE);
    sums.total = words->most != 0 ? 0xffffffffu : 0;
    const uint parts = (kma_group_items() - 1) / kma_group_part_items() + 1;
    for (uint i = 0; i < parts; i++) {
        const uint its = words->part[i];
        sums.before += i < part ? its : 0;
        sums.total = add_sat(sums.total, its);
    }
    return sums;
}

// The largest `value` of the work-group.
static inline uint kma_group_max(local kma_group_words *words, uint value)
{
    kma_group_clear(words);
    atomic_max(&words->most, value);
    barrier(CLK_LOCAL_MEM_FENCE);
    return words->most;
}

// What the first work-item of the work-group says; what it did and saw in global memory before is before what the others do after. After
// kma_group_scan or kma_group_max with the same words.
static inline uint kma_group_first(local kma_group_words *words, uint value)
{
    if (kma_group_me() == 0)
        words->told = value;
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    return words->told;
}

#endif
