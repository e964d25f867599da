// Lanes: work-items that happen to execute an instruction together, and what they can exchange.
//
// A group is a kma_lanes set that kma_lanes_active() returned. No lane waits for a lane outside its
// group. A lane that diverged, arrives alone, or runs on a device without lane operations is a
// group of one. Rules for every function that takes `group`:
//
// 1. All lanes of the group call it, with the same set, in the control flow in which they got the
//    set.
// 2. The group has not diverged since: `if (kma_lane_leads(group)) { no call with group here }`.
// 3. Between the start of an `if` arm and kma_lanes_active is a branch that the compiler cannot
//    remove. Otherwise compilers merge two equal calls that begin both arms into one before the
//    `if`, with the lanes of both. A path's kma_lanes_active contains such a branch if its
//    primitive could be moved this way.
// 4. On NVIDIA, lanes that meet in a function may be in different rounds of a loop. What a group
//    agrees on is derived from its lanes' values, or is the leader's; never a count that each lane
//    keeps for itself.
//
// These functions move values and order no memory. The other lanes have what the leader acquired
// only after kma_lanes_sync.
//
//   kma_lanes kma_lanes_active (void)                the lanes that are here, the caller's included
//   uint      kma_lane_rank    (group)               number of the group's lanes before the caller
//   bool      kma_lane_leads   (group)               true for exactly one lane, the first
//   uint      kma_lanes_count  (group)               lanes in the group, 1..64
//   uint      kma_lanes_shuffle(group, value, lane)  `value` of lane `lane`, which is in the group
//   uint      kma_lanes_first  (group, value)        the leader's `value`
//   kma_lanes kma_lanes_ballot (group, bool)         the lanes with a true argument
//   kma_lanes kma_lanes_match  (group, value, bits)  the lanes with the caller's low `bits` bits
//   kma_lanes kma_lanes_alike  (group, key)          the lanes with the leader's 64-bit `key`
//   uint      kma_lanes_or     (group, some, value)  OR over the lanes `some`, a part of the group
//   kma_scan  kma_lanes_scan   (group, value)        saturating sums: over lanes before, over all
//   void      kma_lanes_sync   (group)               what any lane did or saw before it is before
//                                                    what each lane does after it
//
// Lanes that arrive together may want different things, even of different heaps. kma_lanes_alike
// returns those that agree with the leader. They go on as a group inside `if (kma_lane_in(alike))`;
// each other lane goes on alone.
//
// With KMA_SHORT_PATHS (target.cl) a path also has KMA_LANES_ALL, the set of all lanes of a warp.
// It is a constant that the compiler knows in the functions it is passed to. kma_lane_of_all() is
// kma_lane_rank(KMA_LANES_ALL).
//
// A path supplies kma_lane_id, kma_lanes_active, kma_lanes_shuffle, kma_lanes_ballot and
// kma_lanes_sync. Where the hardware has more, the path defines
// KMA_LANES_HAVE_{FIRST,MATCH,OR,SCAN} and supplies those functions, too. A path where lanes that
// are at one call may name different groups, each lane its own, defines KMA_LANES_APART.
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

// Sums saturate at 2^32 - 1: a sum is never smaller than one of its parts.
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

// Returns the lane with number `n` among the group's lanes, from 0; the group has more than n.
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

// One ballot for each bit: the lanes left agree with the caller in that bit, too.
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

// Returns the first lane of the group with the caller's `key`. It is lane number `rank` of `set`,
// which is used where there is no fast way to match keys.
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

// All lanes of the group take the same path: on some platforms an exchange in divergent arms goes
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

// Pointer jumping over the lanes of the group, whatever gaps it has: after step k a lane has the
// sum over itself and up to 2^k - 1 lanes before it, and knows the lane where the rest ends.
// ceil(log2(count)) steps.
#ifndef KMA_LANES_HAVE_SCAN
static inline kma_scan kma_lanes_scan(kma_lanes group, uint value)
{
    const uint me = kma_lane_id();
    const kma_lanes below = group & kma_bits_below(me);
    const uint neighbour = below ? kma_highest_bit(below) : me; // me: no lane before
    uint sum = value;
    uint from = neighbour;
    for (uint reach = 1; reach < kma_lanes_count(group); reach *= 2) {
        const uint more = kma_lanes_shuffle(group, sum, from);
        const uint further = kma_lanes_shuffle(group, from, from);
        if (from != me)
            sum = add_sat(sum, more);
        from = further == from ? me : further; // me: lane `from` had no lane before it
    }
    const uint sum_before = kma_lanes_shuffle(group, sum, neighbour);
    kma_scan scan;
    scan.before = below ? sum_before : 0;
    scan.total = kma_lanes_shuffle(group, sum, kma_highest_bit(group));
    return scan;
}
#endif

#endif
