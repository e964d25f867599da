// Lanes: work-items that happen to execute an instruction together, and what they can tell each
// other.
//
// A "group" here is a kma_lanes set that kma_lanes_active() returned. Nobody waits for a lane
// outside it: a lane that diverged, or comes alone, or runs on a device without lane operations, is
// a group of one and loses nothing but the company. Rules for every function that takes `group`:
//   - all lanes of the group call it, with the same set, in the control flow in which they got the
//     set;
//   - the group must not have diverged since (`if (kma_lane_leads(group)) { no calls with group
//     here }`).
//   - a branch that the compiler cannot remove stands between the start of an `if` arm and
//     kma_lanes_active there: compilers make one of two equal calls that begin both arms, in front
//     of the `if`, with the lanes of both. The paths whose primitive could be moved so bring such a
//     branch themselves.
//   - lanes that meet in a function may come from different rounds of a loop (NVIDIA): what a group
//     goes by is worked out from its lanes' values, or is the leader's, never what each has counted
//     for itself.
// The functions move values, they order no memory: what the leader acquired, the others have not,
// until they meet in kma_lanes_sync.
//
//   kma_lanes kma_lanes_active  (void)                 the lanes that are here with me, me included
//   uint      kma_lane_rank     (group)                how many lanes of the group come before me
//   bool      kma_lane_leads    (group)                whether I am the first lane of the group; true for exactly one
//   uint      kma_lanes_count   (group)                lanes in the group, 1..64
//   uint      kma_lanes_shuffle (group, value, lane)   the `value` of lane number `lane`, which is in the group
//   uint      kma_lanes_first   (group, value)         the leader's `value`
//   kma_lanes kma_lanes_ballot  (group, bool)          the lanes whose argument is true
//   kma_lanes kma_lanes_match   (group, value, bits)   the lanes whose `value` is mine; only `bits` low bits count
//   kma_lanes kma_lanes_alike   (group, key)           the lanes whose 64-bit `key` is the leader's; an address, say
//   uint      kma_lanes_or      (group, some, value)   the OR of the values of the lanes `some`, a part of the group
//   kma_scan  kma_lanes_scan    (group, value)         sums over the lanes before me and over all, saturating
//   void      kma_lanes_sync    (group)                what a lane did or saw before is before what each does after
//
// Lanes that came together may want different things, of different heaps even. `alike` picks those
// that want the leader's; they go on as a group inside `if (kma_lane_in(alike))`, the others each
// alone.
//
// With KMA_SHORT_PATHS (target.cl) a path also has KMA_LANES_ALL, the set of all lanes that there
// may be: where a function is given that, the compiler knows it. kma_lane_of_all() is
// kma_lane_rank(KMA_LANES_ALL).
//
// A path supplies kma_lane_id, kma_lanes_active, kma_lanes_shuffle, kma_lanes_ballot and
// kma_lanes_sync; where the hardware has more, it says so with KMA_LANES_HAVE_{FIRST,MATCH,OR,SCAN}
// and supplies those too.
#ifndef KMA_PLATFORM_LANES_CL
#define KMA_PLATFORM_LANES_CL

#include "kma/platform/target.cl"
#include "kma/platform/bits.cl"

// Bit i: lane i. As wide as the platform needs.
#if KMA_LANES == KMA_LANES_NV
typedef uint kma_lanes;
#else
typedef ulong kma_lanes;
#endif

// Sums that would pass 2^32 - 1 stay there, so that a sum is never smaller than one of its parts.
typedef struct kma_scan {
    uint before; // over the lanes of the group before this one
    uint total;  // over all lanes of the group
} kma_scan;

#if KMA_LANES == KMA_LANES_SINGLE
#include "kma/platform/lanes_single.cl"
#elif KMA_LANES == KMA_LANES_SUBGROUP
#include "kma/platform/lanes_subgroup.cl"
#elif KMA_LANES == KMA_LANES_NV
#include "kma/platform/lanes_nv.cl"
#elif KMA_LANES == KMA_LANES_AMDGCN
#include "kma/platform/lanes_amdgcn.cl"
#elif KMA_LANES != KMA_LANES_SUPPLIED
#error "no such KMA_LANES: platform/target.cl lists them, and chooses one if you do not"
#endif

static inline uint kma_lanes_count(kma_lanes group)
{
    return (uint)popcount(group);
}

static inline uint kma_lane_rank(kma_lanes group)
{
    return (uint)popcount((kma_lanes)(group & kma_bits_below(kma_lane_id())));
}

// Number `n` of the group's lanes, counted from 0; there are more than n.
static inline uint kma_lanes_nth(kma_lanes group, uint n)
{
    const uint next = kma_lowest_bit(group) + n; // the answer if no lane between is missing
    if (next < 8 * sizeof(kma_lanes) &&
        (uint)popcount((kma_lanes)(group & kma_bits_below(next))) == n &&
        ((group >> next) & 1) != 0)
        return next;
    uint lane = 0;
    for (uint span = 4 * sizeof(kma_lanes); span != 0; span /= 2) {
        const uint below = (uint)popcount((kma_lanes)((group >> lane) & kma_bits_below(span)));
        if (n >= below) {
            n -= below;
            lane += span;
        }
    }
    return lane;
}

static inline bool kma_lane_leads(kma_lanes group)
{
    return kma_lane_rank(group) == 0;
}

static inline bool kma_lane_in(kma_lanes set)
{
    return ((set >> kma_lane_id()) & 1) != 0;
}

#ifndef KMA_LANES_HAVE_FIRST
static inline uint kma_lanes_first(kma_lanes group, uint value)
{
    return kma_lanes_shuffle(group, value, kma_lowest_bit(group));
}
#endif

static inline kma_lanes kma_lanes_alike(kma_lanes group, ulong key)
{
    const uint low = kma_lanes_first(group, (uint)key);
    const uint high = kma_lanes_first(group, (uint)(key >> 32));
    return kma_lanes_ballot(group, low == (uint)key && high == (uint)(key >> 32));
}

// One ballot for each bit: after it, the lanes left agree with me in that bit too.
#ifndef KMA_LANES_HAVE_MATCH
static inline kma_lanes kma_lanes_match(kma_lanes group, uint value, uint bits)
{
    kma_lanes same = group;
    for (uint bit = 0; bit < bits; bit++) {
        const bool mine = ((value >> bit) & 1u) != 0;
        const kma_lanes ones = kma_lanes_ballot(group, mine);
        same &= mine ? ones : ~ones;
    }
    return same;
}
#endif

// The first of the group's lanes whose `key` is mine. All those are in `set`, where it has number
// `rank`: so it is found where there is no quick way to match keys.
static inline uint kma_lanes_head(kma_lanes group, uint key, kma_lanes set, uint rank)
{
#ifdef KMA_LANES_HAVE_MATCH
    (void)set;
    (void)rank;
    return kma_lowest_bit(kma_lanes_match(group, key, 32));
#else
    (void)group;
    (void)key;
    return kma_lanes_nth(set, rank);
#endif
}

// All lanes of the group go the same way: on some platforms an exchange in arms that part goes
// wrong.
#ifndef KMA_LANES_HAVE_OR
static inline uint kma_lanes_or(kma_lanes group, kma_lanes some, uint value)
{
    uint joined = 0;
    for (kma_lanes left = group; left != 0; left &= left - 1) {
        const uint lane = kma_lowest_bit(left);
        const uint its = kma_lanes_shuffle(group, value, lane);
        joined |= (some >> lane & 1) != 0 ? its : 0;
    }
    return joined;
}
#endif

// Pointer jumping over the lanes that are there, whatever holes the set has: after step k a lane
// holds the sum of itself and up to 2^k - 1 lanes before it, and knows the lane where the rest
// ends. ceil(log2(count)) steps.
#ifndef KMA_LANES_HAVE_SCAN
static inline kma_scan kma_lanes_scan(kma_lanes group, uint value)
{
    const uint me = kma_lane_id();
    const kma_lanes below = group & kma_bits_below(me);
    const uint neighbour = below ? kma_highest_bit(below) : me; // me: nothing before
    uint sum = value;
    uint from = neighbour;
    for (uint reach = 1; reach < kma_lanes_count(group); reach *= 2) {
        const uint more = kma_lanes_shuffle(group, sum, from);
        const uint further = kma_lanes_shuffle(group, from, from);
        if (from != me)
            sum = add_sat(sum, more);
        from = further == from ? me : further; // lane `from` had nothing before it: so have I now
    }
    const uint sum_before = kma_lanes_shuffle(group, sum, neighbour);
    kma_scan scan;
    scan.before = below ? sum_before : 0;
    scan.total = kma_lanes_shuffle(group, sum, kma_highest_bit(group));
    return scan;
}
#endif

#endif
