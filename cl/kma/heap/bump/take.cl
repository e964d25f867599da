// How work-items take units from a bump heap, exactly up to the limit.
//
// 1. The lanes that arrive together add up their requests.
// 2. The leader moves the head by the sum with one atomic add.
// 3. Each lane takes its part of these units.
//
// An add beyond the limit cannot be undone by a subtraction: another lane's add could lie between,
// and its memory would be handed out twice. Instead:
//
// 1. The add that moves the head from <= limit to > limit is the crossing one. Until the head is
//    lowered, every other add starts beyond the limit and fails. The crossing group alone owns the
//    units that are left.
// 2. It serves those of its lanes that fit, one after the other.
// 3. It stores the head after their units. No other lane took a unit there, and no other lane
//    lowers the head: there is one crossing group at a time.
//
// While a group crosses, all others are refused. To bound this, only sums up to KMA_BUMP_UNCHECKED
// are added unchecked. Larger sums move the head by compare-and-swap, never beyond the limit. A
// refusal during a crossing means that fewer than KMA_BUMP_UNCHECKED units were left. Without
// 64-bit atomics an add could wrap: every move is a compare-and-swap, and no group crosses.
//
// - Invariants: at rest begin <= head <= limit; parts do not overlap; [begin, head) is the union of
//   all parts served.
// - Progress: a compare-and-swap is retried only after another lane moved the head. A crossing
//   group stopped between its add and its store costs fewer than KMA_BUMP_UNCHECKED units.
// - Orders: all relaxed. Memory never comes back while kernels run: there are no accesses of an
//   earlier owner to order.
#ifndef KMA_HEAP_BUMP_TAKE_CL
#define KMA_HEAP_BUMP_TAKE_CL

#include "kma/platform/lanes.cl"
#include "kma/platform/memory.cl"
#include "kma/heap/bump/layout.cl"

// 1 MiB, in units. With 64 bits, 2^48 adds to a head that is never lowered would wrap it.
#ifndef KMA_BUMP_UNCHECKED
#define KMA_BUMP_UNCHECKED 65536u
#endif

#if KMA_HAS_ATOMIC64
#define kma_bump_load_head kma_load_u64
#define kma_bump_store_head kma_store_u64
#define kma_bump_cas_head kma_cas_u64
#else
#define kma_bump_load_head kma_load_u32
#define kma_bump_store_head kma_store_u32
#define kma_bump_cas_head kma_cas_u32
#endif

// Moves the head by `units` (not 0) if they fit and returns the head before; else 0. Any lane.
static inline uint kma_bump_advance(global kma_bump *heap, uint units)
{
    const uint limit = heap->header.limit;
    kma_bump_word head = kma_bump_load_head(&heap->head, KMA_RELAXED);
    while ((ulong)head + units <= limit) { // repeats only if another lane moved the head
        const kma_bump_word before =
            kma_bump_cas_head(&heap->head, head, head + units, KMA_RELAXED);
        if (before == head)
            return (uint)head;
        head = before;
    }
    return 0;
}

#if KMA_HAS_ATOMIC64
// Serves the lanes of the crossing group, which owns [start, limit), in order, each if it still
// fits. Lowers the head to the end of what they took. Returns the caller's first unit, or 0. All
// lanes of the group; one round for each lane that could fit, none on a full heap.
static inline uint kma_bump_cross(global kma_bump *heap, kma_lanes group, uint units, uint start)
{
    const uint limit = heap->header.limit;
    uint first = 0;
    uint end = start;
    for (kma_lanes left = kma_lanes_ballot(group, units != 0 && units <= limit - start); left != 0;
         left &= left - 1) {
        const uint lane = kma_lowest_bit(left);
        const uint wanted = kma_lanes_shuffle(group, units, lane);
        if (wanted > limit - end)
            continue;
        if (lane == kma_lane_id())
            first = end;
        end += wanted;
    }
    if (kma_lane_leads(group))
        kma_store_u64(&heap->head, end, KMA_RELAXED);
    return first;
}

// Takes `units` for each lane of a group. Their sum, `scan.total`, is at most KMA_BUMP_UNCHECKED.
// Returns the caller's first unit, or 0. All lanes of the group.
static inline uint kma_bump_take_small(global kma_bump *heap, kma_lanes group, uint units,
                                       kma_scan scan)
{
    const uint limit = heap->header.limit;
    uint start = 0;
    if (kma_lane_leads(group) && scan.total != 0) // limit + 1: any value beyond
        start =
            (uint)min(kma_fetch_add_u64(&heap->head, scan.total, KMA_RELAXED), (ulong)limit + 1);
    start = kma_lanes_first(group, start);
    if ((ulong)start + scan.total <= limit)
        return units != 0 ? start + scan.before : 0;
    return start <= limit ? kma_bump_cross(heap, group, units, start) : 0;
}
#endif

// Takes `units` for each lane of the group (0: none), with one atomic if all fit. Returns the
// caller's first unit, or 0. All lanes of the group.
static inline uint kma_bump_take(global kma_bump *heap, kma_lanes group, uint units)
{
    const kma_scan scan = kma_lanes_scan(group, units);
#if KMA_HAS_ATOMIC64
    if (scan.total <= KMA_BUMP_UNCHECKED)
        return kma_bump_take_small(heap, group, units, scan);
#endif
    uint start = 0;
    if (kma_lane_leads(group) && scan.total != 0)
        start = kma_bump_advance(heap, scan.total);
    start = kma_lanes_first(group, start);
    if (units == 0)
        return 0;
    // The sum does not fit: each lane tries alone. A lane's large request must not fail another
    // lane's small one that fits.
    return start != 0 ? start + scan.before : kma_bump_advance(heap, units);
}

#endif
