// The head of a bump heap: how work-items take units from it, exactly up to the limit.
//
// The lanes that arrive together add up what they want, the leader moves the head by the sum with
// one atomic add, and each takes its part. An add beyond the limit cannot be taken back by a
// subtraction: another's add could lie between, and its memory would be given out twice. Instead:
//
//   The add that carries the head from <= limit to > limit is the crossing one. Until somebody
//   lowers the head, every other add starts beyond the limit and fails, so the crossing group alone
//   owns what is left: it serves those of its lanes that fit, one after the other, and then puts
//   the head behind them with a plain store. No one has taken anything there, so nothing is lost,
//   and no one else lowers the head, so there is one crossing group at a time.
//
// While a group crosses, all others are refused. So only sums up to KMA_BUMP_UNCHECKED are added
// unseen: who asks for more moves the head by compare-and-swap, never beyond the limit, and a
// refusal means less than that was left. Without 64-bit atomics an add could wrap, so there every
// move is a compare-and-swap and nobody crosses.
//
// Invariants: begin <= head at rest <= limit; parts do not overlap; [begin, head) is the union of
// all parts served. Progress: a compare-and-swap is retried only after another's move of the head.
// A crossing group stopped for ever between its add and its store costs what was left then, less
// than KMA_BUMP_UNCHECKED units. Orders: all relaxed. Memory never comes back while kernels run, so
// no earlier owner's accesses need ordering.
#ifndef KMA_HEAP_BUMP_TAKE_CL
#define KMA_HEAP_BUMP_TAKE_CL

#include "kma/platform/lanes.cl"
#include "kma/platform/memory.cl"
#include "kma/heap/bump/layout.cl"

// 1 MiB. With 64 bits it would take 2^48 adds beyond a head that nobody lowers to wrap it.
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

// Moves the head by `units` (not 0) if they fit, and returns where it was; else 0.
static inline uint kma_bump_advance(global kma_bump *heap, uint units)
{
    const uint limit = heap->header.limit;
    kma_bump_word head = kma_bump_load_head(&heap->head, KMA_RELAXED);
    while ((ulong)head + units <= limit) { // once more only if another moved the head
        const kma_bump_word before =
            kma_bump_cas_head(&heap->head, head, head + units, KMA_RELAXED);
        if (before == head)
            return (uint)head;
        head = before;
    }
    return 0;
}

#if KMA_HAS_ATOMIC64
// For the crossing group, which owns [start, limit): serves its lanes in order, each if it still
// fits, and lowers the head to the end of what they took. A round for each lane that could fit; on
// a full heap none.
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

// `units` for each lane of a group that wants `scan.total` together, not more than
// KMA_BUMP_UNCHECKED.
static inline uint kma_bump_take_small(global kma_bump *heap, kma_lanes group, uint units,
                                       kma_scan scan)
{
    const uint limit = heap->header.limit;
    uint start = 0;
    if (kma_lane_leads(group) && scan.total != 0) // limit + 1: anywhere beyond
        start =
            (uint)min(kma_fetch_add_u64(&heap->head, scan.total, KMA_RELAXED), (ulong)limit + 1);
    start = kma_lanes_first(group, start);
    if ((ulong)start + scan.total <= limit)
        return units != 0 ? start + scan.before : 0;
    return start <= limit ? kma_bump_cross(heap, group, units, start) : 0;
}
#endif

// `units` for each lane of the group (0: none wanted), with one atomic if all fit; the first unit,
// or 0.
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
    // Not all together: then each alone, since a neighbour's large request must not refuse a small
    // one that fits.
    return start != 0 ? start + scan.before : kma_bump_advance(heap, units);
}

#endif
