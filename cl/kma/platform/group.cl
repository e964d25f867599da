// Sums and maxima over a work-group, of a number that each work-item has. They go through words in
// local memory, which the kernel declares:
//
//   local kma_group_words words;
//   const kma_scan sums = kma_group_scan(&words, value);
//
// Collective: all work-items of the work-group make the same calls in the same order, as with
// barrier(). Any size of work-group. In two steps, between which the first work-item can act for
// all:
//
//   kma_group_place kma_group_put   (words, value)  puts the caller's number
//   uint            kma_group_sum   (words)         the sum of all; first work-item only
//   uint            kma_group_tell  (words, value)  the first work-item's `value`, for all
//   uint            kma_group_before(words, place)  the sum of the numbers before the caller's
//
//   kma_scan        kma_group_scan  (words, value)  all of that at once
//   uint            kma_group_max   (words, value)  the largest number, by kma_group_put_max and
//                                                   kma_group_most
//
// A work-group consists of parts. Sums go by parts, in the order of the work-items.
//
//   device              part                    its number        order within the part
//   NVIDIA              a warp (group_nv.cl)    lane exchange     lanes by number
//   others with lanes   32 work-items or more   lane groups (1)   groups by arrival, their lanes by
//                                                                 number
//   CPUs without lanes  one work-item (2)       the work-item's   -
//
//   (1) The lanes that arrive together add up (lanes.cl); their leader adds the sum to the part.
//   (2) In work-groups of more than 1,024 several, which add to the part as they arrive.
//
// kma_group_put ends with a barrier, and kma_group_tell has one. The words of parts are written
// before the first barrier, and read by the first work-item between the two. What the first
// work-item writes there is read by all after the second. No work-item reads what a following call
// writes.
#ifndef KMA_PLATFORM_GROUP_CL
#define KMA_PLATFORM_GROUP_CL

#include "kma/platform/lanes.cl"

#if KMA_LANES == KMA_LANES_SINGLE
#define KMA_GROUP_PARTS      1024u
#define KMA_GROUP_PART_SHIFT 0u // log2 of the work-items of a part, at least
#else
#define KMA_GROUP_PARTS      32u
#define KMA_GROUP_PART_SHIFT 5u
#endif

typedef struct kma_group_words {
    // sums or maxima of the parts; four at a time, since steps cost more than words
    uint4 part[KMA_GROUP_PARTS / 4];
    uint4 before[KMA_GROUP_PARTS / 4]; // sums of the parts before
    uint beyond; // 1 if the atomic sum of a part passed 2^32 - 1
    uint told;   // by the first work-item
} kma_group_words;

// The position of the caller's number among those of its work-group.
typedef struct kma_group_place {
    uint part;
    uint within;
} kma_group_place;

static inline uint kma_group_items(void)
{
    return (uint)(get_local_size(0) * get_local_size(1) * get_local_size(2));
}

// Returns the calling work-item's number in its work-group.
static inline uint kma_group_me(void)
{
    return (uint)(get_local_id(0) +
                  get_local_size(0) * (get_local_id(1) + get_local_size(1) * get_local_id(2)));
}

// Returns log2 of the work-items of a part.
static inline uint kma_group_part_shift(void)
{
    const uint items = kma_group_items();
    return items <= KMA_GROUP_PARTS << KMA_GROUP_PART_SHIFT
               ? KMA_GROUP_PART_SHIFT
               : kma_highest_bit((items - 1) / KMA_GROUP_PARTS) + 1;
}

// Returns the number of uint4 that the parts take.
static inline uint kma_group_fours(void)
{
    return ((kma_group_items() - 1) >> (kma_group_part_shift() + 2)) + 1;
}

static inline local uint *kma_group_part(local kma_group_words *words, uint part)
{
    return (local uint *)words->part + part;
}

#if KMA_LANES == KMA_LANES_NV
#include "kma/platform/group_nv.cl"
#else
#define KMA_GROUP_HAS_WARPS 0
#endif

// Clears the parts, before several work-items add to one. Collective.
static inline void kma_group_clear(local kma_group_words *words)
{
    for (uint i = kma_group_me(); i < 4 * kma_group_fours(); i += kma_group_items())
        *kma_group_part(words, i) = 0;
    if (kma_group_me() == 0)
        words->beyond = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
}

// Writes the number of a part; called by the part's last work-item. The last of the work-group also
// writes 0 for the parts that are missing in its uint4.
static inline void kma_group_put_part(local kma_group_words *words, uint part, uint value)
{
    *kma_group_part(words, part) = value;
    for (uint i = part + 1; kma_group_me() == kma_group_items() - 1 && i % 4 != 0; i++)
        *kma_group_part(words, i) = 0;
}

#if KMA_GROUP_HAS_WARPS
static inline void kma_group_put_last(local kma_group_words *words, uint warp, uint lanes,
                                      uint value)
{
    if (kma_lane_id() == kma_highest_bit(lanes))
        kma_group_put_part(words, warp, value);
    barrier(CLK_LOCAL_MEM_FENCE);
}

static inline kma_group_place kma_group_put(local kma_group_words *words, uint value)
{
    kma_group_place place;
    place.part = kma_group_me() / 32;
    const uint lanes = kma_group_lanes(place.part), sum = kma_group_warp_sum(lanes, value);
    place.within = sum - value;
    kma_group_put_last(words, place.part, lanes, sum);
    return place;
}

// Puts a number of which kma_group_most, for the first work-item alone, is the largest.
static inline void kma_group_put_max(local kma_group_words *words, uint value)
{
    const uint warp = kma_group_me() / 32, lanes = kma_group_lanes(warp);
    kma_group_put_last(words, warp, lanes, kma_group_warp_max(lanes, value));
}
#else
static inline kma_group_place kma_group_put(local kma_group_words *words, uint value)
{
    kma_group_place place;
    place.part = kma_group_me() >> kma_group_part_shift();
    place.within = 0;
    if (kma_group_part_shift() == 0) {
        kma_group_put_part(words, place.part, value);
    } else {
        kma_group_clear(words);
        const kma_lanes group = kma_lanes_active();
        const kma_scan lanes = kma_lanes_scan(group, value);
        place.part = kma_lanes_first(group, place.part);
        uint before = 0;
        if (kma_lane_leads(group)) {
            before = atomic_add(kma_group_part(words, place.part), lanes.total);
            if (before + lanes.total < before)
                atomic_max(&words->beyond, 1u);
        }
        place.within = kma_lanes_first(group, before) + lanes.before;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    return place;
}

// Puts a number of which kma_group_most, for the first work-item alone, is the largest.
static inline void kma_group_put_max(local kma_group_words *words, uint value)
{
    if (kma_group_part_shift() == 0) {
        kma_group_put_part(words, kma_group_me(), value);
    } else {
        kma_group_clear(words);
        atomic_max(kma_group_part(words, kma_group_me() >> kma_group_part_shift()), value);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
}
#endif

// Returns the sum of all numbers put; saturates at 2^32 - 1, and kma_group_before is undefined
// then. First work-item only.
static inline uint kma_group_sum(local kma_group_words *words)
{
    bool passed = !KMA_GROUP_HAS_WARPS && kma_group_part_shift() != 0 && words->beyond != 0;
    uint sum = 0;
    for (uint i = 0; i < kma_group_fours(); i++) {
        const uint4 its = words->part[i];
        uint4 before;
        before.x = sum;
        before.y = before.x + its.x;
        before.z = before.y + its.y;
        before.w = before.z + its.z;
        sum = before.w + its.w;
        words->before[i] = before;
        passed = passed || before.y < before.x || before.z < before.y || before.w < before.z ||
                 sum < before.w;
    }
    return passed ? 0xffffffffu : sum;
}

// Returns the first work-item's `value`, to all. What the first work-item did and saw in global
// memory before is before what the others do after.
static inline uint kma_group_tell(local kma_group_words *words, uint value)
{
    if (kma_group_me() == 0)
        words->told = value;
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    return words->told;
}

static inline uint kma_group_before(local kma_group_words *words, kma_group_place place)
{
    return ((const local uint *)words->before)[place.part] + place.within;
}

// Returns the sums of `value` over the work-items before the caller, and over all; saturates as
// kma_group_sum.
static inline kma_scan kma_group_scan(local kma_group_words *words, uint value)
{
    const kma_group_place place = kma_group_put(words, value);
    kma_scan sums;
    sums.total = kma_group_tell(words, kma_group_me() == 0 ? kma_group_sum(words) : 0);
    sums.before = kma_group_before(words, place);
    return sums;
}

static inline uint kma_group_most(local kma_group_words *words)
{
    uint most = 0;
    for (uint i = 0; i < kma_group_fours(); i++) {
        const uint4 its = words->part[i];
        most = max(most, max(max(its.x, its.y), max(its.z, its.w)));
    }
    return most;
}

// Returns the largest `value` of the work-group.
static inline uint kma_group_max(local kma_group_words *words, uint value)
{
    kma_group_put_max(words, value);
    return kma_group_tell(words, kma_group_me() == 0 ? kma_group_most(words) : 0);
}

// Adds to a word in local memory that several work-items of the group add to; returns the value
// before. Any lane.
static inline uint kma_group_add(local uint *word, uint value)
{
    return atomic_add(word, value);
}

#endif
