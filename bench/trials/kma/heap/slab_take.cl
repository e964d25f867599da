// Blocks for lanes that come together: one slab for all of them, whatever their sizes, with one claim of lines.
//
// A lane's slot is its number, or its rank if all want the same size; so what a warp takes lies side by side, in the order
// of its lanes. Groups of more than 32 lanes are halves.
//
// A slab for few small blocks would be mostly empty: where less than half would be used, or no lines are to be had, neither at
// the cursor nor in gaps, everybody is left to himself.
#ifndef KMA_HEAP_SLAB_TAKE_CL
#define KMA_HEAP_SLAB_TAKE_CL

#include "kma/platform/lanes.cl"
#include "kma/heap/slab_cursors.cl"
#include "kma/heap/slab_gaps.cl"
#include "kma/heap/slab_heads.cl"

// What the lanes of a half want together.
typedef struct kma_sl_order {
    uint mates;  // those who want something, one bit for each lane of the half
    uint lines;  // of the slab; 0: none is to be made
    uint mark;
    uint header; // 0: none
    uint offset; // units in front of my block
    bool mixed;  // planes tell
} kma_sl_order;

// My half's part of a ballot.
static inline uint kma_sl_half(kma_lanes lanes, uint base)
{
    return (uint)(lanes >> base);
}

// All want `units`.
static inline uint kma_sl_order_equal(kma_sl_order *order, uint lane, uint units)
{
    const uint count = (uint)popcount(order->mates);
    order->mixed = false;
    order->offset = (uint)popcount(order->mates & ((1u << lane) - 1u)) * units;
    order->lines = units != 1 ? kma_sl_lines_for(units, count) : count == KMA_SL_SLOTS ? 1 : 0;
    order->mark = units != 1 ? KMA_SL_MARK_HEADER : KMA_SL_MARK_FINE;
    order->header = units != 1 ? kma_sl_equal_header(units, count) : 0;
    return count * units;
}

// What planes say of a lane that wants `units`.
static inline uint kma_sl_plane_value(const kma_sl_order *order, uint units)
{
    const bool fits = units != 0 && units <= KMA_SL_MOST_MIXED;
    const bool is_coarse = (order->header & KMA_SL_HEADER_COARSE) != 0;
    return !fits ? 0 : is_coarse ? (units + 3) >> KMA_SL_COARSE_SHIFT : order->header == 0 ? units - 1 : units;
}

// The lanes want different sizes: one ballot for each bit of these.
static inline uint kma_sl_order_mixed(kma_sl_order *order, kma_lanes group, uint base, uint lane, uint units)
{
    const bool fits = units != 0 && units <= KMA_SL_MOST_MIXED;
    const uint mates = kma_sl_half(kma_lanes_ballot(group, fits), base);
    const bool is_coarse = kma_sl_half(kma_lanes_ballot(group, fits && units >> KMA_SL_PLANES != 0), base) != 0;
    const bool is_small = mates == 0xffffffffu && kma_sl_half(kma_lanes_ballot(group, units > 4), base) == 0;
    order->header = is_small ? 0 : kma_sl_mixed_header(0, is_coarse, (mates & KMA_SL_DATA) != 0, 0);
    const uint value = kma_sl_plane_value(order, units);
    uint total = is_small ? KMA_SL_SLOTS : 0;
    uint last = is_small ? 1 : 0; // what slot 31 wants
    uint before = is_small ? lane : 0;
    uint count = 0;
    for (uint p = 0; p < KMA_SL_PLANES; p++) {
        const uint plane = kma_sl_half(kma_lanes_ballot(group, (value >> p & 1u) != 0), base);
        total += (uint)popcount(plane) << p;
        before += (uint)popcount(plane & ((1u << lane) - 1u)) << p;
        last += plane >> (KMA_SL_SLOTS - 1) << p;
        count = plane != 0 ? p + 1 : count;
    }
    const uint shift = is_coarse ? KMA_SL_COARSE_SHIFT : 0;
    order->mixed = true;
    order->mates = mates;
    order->offset = before << shift;
    order->mark = is_small ? KMA_SL_MARK_SMALL : KMA_SL_MARK_HEADER;
    order->lines = is_small ? kma_sl_small_lines(total - last) : max(kma_sl_whole_lines(total << shift), 2 + count);
    if (!is_small)
        order->header |= order->lines << 8 | count;
    return total << shift;
}

// What the lanes of the group want, 0 units being nothing.
static inline kma_sl_order kma_sl_order_of(kma_lanes group, uint base, uint lane, uint units)
{
    const bool wants = units != 0 && units <= KMA_SL_MOST_EQUAL;
    kma_sl_order order;
    order.mates = kma_sl_half(kma_lanes_ballot(group, wants), base);
    const uint its = kma_lanes_shuffle(group, units, order.mates != 0 ? base + kma_sl_first_bit(order.mates) : kma_lane_id());
    const kma_lanes differ = kma_lanes_ballot(group, wants && units != its);
    uint total = kma_sl_order_equal(&order, lane, its);
    if (differ != 0) { // of either half
        kma_sl_order mixed;
        const uint all_of_it = kma_sl_order_mixed(&mixed, group, base, lane, units);
        if (kma_sl_half(differ, base) != 0) {
            order = mixed;
            total = all_of_it;
        }
    }
    if (((order.mates - 1) & order.mates) == 0 || total * 2 < order.lines * KMA_SL_LINE) // nobody, one alone, or a waste
        order.lines = 0;
    return order;
}

// What a lane got of lines that its half wants: all of its chunks, or those in front of `chunk`, and of that `mask`.
typedef struct kma_sl_part {
    uint chunk; // KMA_SL_NONE: it did not fail
    uint mask;
} kma_sl_part;

// Takes a share of the lines [first, first + lines): the caller is number `me` of `many` who do so.
static inline kma_sl_part kma_sl_take_part(const kma_sl_heap *sl, uint first, uint lines, uint me, uint many)
{
    kma_sl_part part;
    part.chunk = KMA_SL_NONE;
    part.mask = 0;
    const uint last = (first + lines - 1) >> KMA_SL_LINE_SHIFT;
    for (uint chunk = (first >> KMA_SL_LINE_SHIFT) + me; chunk <= last && part.chunk == KMA_SL_NONE; chunk += many) {
        const uint mask = kma_sl_mask(first, lines, chunk);
        const uint taken = kma_sl_set_in(sl, chunk, mask);
        if (taken != 0) {
            part.chunk = chunk;
            part.mask = mask & ~taken;
        }
    }
    return part;
}

// The cursor led a half to lines of others: number `me` of `many` gives back what he got.
static inline KMA_COLD void kma_sl_lose(global kma_slab *heap, uint first, uint lines, uint me, uint many,
                                        kma_sl_part part)
{
    KMA_CALL_ITSELF(heap, kma_sl_lose(heap, first, lines, me, many, part));
    const kma_sl_heap sl = kma_sl_open(heap);
    const uint last = min((first + lines - 1) >> KMA_SL_LINE_SHIFT, part.chunk);
    kma_fence(KMA_RELEASE);
    for (uint chunk = (first >> KMA_SL_LINE_SHIFT) + me; chunk <= last; chunk += many) {
        const uint mask = chunk < part.chunk ? kma_sl_mask(first, lines, chunk) : part.mask;
        if (mask != 0)
            kma_sl_give_in(&sl, chunk, mask);
    }
}

// Writes what tells of a new slab, before anybody is told of a block of it.
static inline void kma_sl_write_slab(const kma_sl_heap *sl, kma_lanes group, const kma_sl_order *order, bool got, uint first,
                                     uint units)
{
    const uint base = kma_lane_id() / KMA_SL_SLOTS * KMA_SL_SLOTS;
    const uint me = (uint)popcount(order->mates & ((1u << kma_lane_id() % KMA_SL_SLOTS) - 1u));
    const uint many = (uint)popcount(order->mates);
    global kma_atomic_u32 *const words = kma_sl_word(sl, got ? first : 0);
    if (kma_lanes_ballot(group, order->mixed) != 0) { // the planes once more: they were not kept until now
        const uint value = kma_sl_plane_value(order, units);
        for (uint p = 0; p < KMA_SL_PLANES; p++) {
            const uint plane = kma_sl_half(kma_lanes_ballot(group, (value >> p & 1u) != 0), base);
            if (got && order->mixed && me == p % many && p < (order->header != 0 ? order->header & 7u : 2u))
                kma_store_u32(&words[p + (order->header != 0 ? 2 : 1)], KMA_SL_DATA | plane, KMA_RELAXED);
        }
    }
    if (!got)
        return;
    if (me == 0) {
        kma_store_u32(&words[0], !order->mixed && order->header != 0 ? kma_sl_all_slots(many) : order->mates, KMA_RELAXED);
        if (order->header != 0)
            kma_store_u32(&words[1], order->header, KMA_RELAXED);
        kma_sl_put_mark(sl, first, order->mark);
    }
    if (order->lines > KMA_SL_BACK)
        kma_sl_put_backs(sl, first, order->lines, me, many);
}

#define KMA_SL_ENDLESS 0xffffffffu

// A half's cursor led it to lines of others (`drew` is how many it drew then, else 0), or it had a gap, `count` lines from
// `first` on, of which a slab took `used`: moves the cursor, or gives back the other lines; and takes the next gap, of `least`
// to `most` lines (0: none is wanted).
static inline KMA_COLD kma_sl_lines_taken kma_sl_next_gap(global kma_slab *heap, uint first, uint drew, uint count, uint used,
                                                          uint least, uint most)
{
    kma_sl_lines_taken taken;
    taken.first = KMA_SL_NONE;
    taken.count = 0;
    KMA_CALL_ITSELF(heap, taken = kma_sl_next_gap(heap, first, drew, count, used, least, most));
    if (drew != 0)
        kma_sl_move_cursor(heap, kma_sl_band_for(drew), first);
    if (count > used)
        kma_sl_give_lines(heap, first + used, count - used);
    if (most != 0)
        taken = kma_sl_look(heap, least, most);
    return taken;
}

// For each lane of the group a block of so many units, if they get a slab; else, and for those who want none (0), `block`.
// Where the cursor leads to lines of others, gaps serve as many of the lanes as each has room for, in the order of their numbers.
static inline kma_ref kma_sl_take_together(global kma_slab *heap, kma_lanes group, uint units, kma_ref block)
{
    const uint base = kma_lane_id() / KMA_SL_SLOTS * KMA_SL_SLOTS;
    const uint lane = kma_lane_id() % KMA_SL_SLOTS;
    uint first = KMA_SL_NONE;
    uint gap = KMA_SL_ENDLESS; // units from `first` on that my half has in hand; endless: it asks the cursor
    bool beyond = false;       // there is no room for me in the gap
    for (uint tries = KMA_SL_TRIES; tries != 0; tries--) {
        // All anew each time, lest it be kept while lines are looked for.
        const kma_sl_heap sl = kma_sl_open(heap);
        const uint scarce = kma_sl_scarce(heap); // soon, so that nobody waits for it
        const uint wanted = block == KMA_NULL && !beyond ? units : 0;
        const kma_sl_order order = kma_sl_order_of(group, base, lane, wanted);
        const uint mates = order.lines != 0 ? order.mates : 0;
        const bool waits = (mates >> lane & 1u) != 0;
        const bool is_beyond = waits && gap != KMA_SL_ENDLESS && order.offset + units > gap;
        if (kma_lanes_ballot(group, is_beyond) != 0) { // no try: one lane more each time
            beyond = beyond || is_beyond;
            tries++;
            continue;
        }
        const uint me = (uint)popcount(mates & ((1u << lane) - 1u));
        const bool draws = gap == KMA_SL_ENDLESS;
        uint drawn = KMA_SL_NONE;
        if (draws && waits && me == 0)
            drawn = order.lines > scarce ? KMA_SL_LOST : kma_sl_draw(&sl, kma_sl_band_for(order.lines), order.lines);
        drawn = kma_lanes_shuffle(group, drawn, mates != 0 ? base + kma_sl_first_bit(mates) : kma_lane_id());
        first = draws ? drawn : first;
        kma_sl_part part;
        part.chunk = KMA_SL_NONE;
        part.mask = 0;
        if (draws && waits && first < KMA_SL_LOST)
            part = kma_sl_take_part(&sl, first, order.lines, me, (uint)popcount(mates));
        const bool lost = kma_sl_half(kma_lanes_ballot(group, part.chunk != KMA_SL_NONE), base) != 0;
        const bool got = waits && first < KMA_SL_LOST && !lost && order.lines <= gap >> KMA_SL_LINE_SHIFT;
        kma_sl_write_slab(&sl, group, &order, got, first, wanted);
        if (got)
            block = sl.plan.begin + first * KMA_SL_LINE + order.offset;
        if (kma_lanes_ballot(group, draws ? waits && !got : units != 0) == 0)
            break;
        // Rarely: there are lines of others, or the half has lines of a gap.
        if (waits && lost)
            kma_sl_lose(heap, first, order.lines, me, (uint)popcount(mates), part);
        const uint wants = kma_sl_half(kma_lanes_ballot(group, units != 0), base);
        const uint left = kma_sl_half(kma_lanes_ballot(group, units != 0 && block == KMA_NULL), base);
        const uint served = kma_sl_half(kma_lanes_ballot(group, got), base);
        kma_sl_lines_taken taken;
        taken.first = KMA_SL_NONE;
        taken.count = 0;
        const bool failed = draws && mates != 0 && served == 0; // lost, or at the end of a share
        const bool redraws = failed && tries > KMA_SL_TRIES - KMA_SL_DRAWS;
        if (wants != 0 && lane == kma_sl_first_bit(wants) && (failed || !draws)) {
            // Behind the last try no gap may be in hand.
            const bool ends = left == 0 || redraws || first == KMA_SL_LOST || (!draws && served == 0) || tries == 1;
            const uint most = ends ? 0 : draws ? min(order.lines, KMA_SL_LINE) : KMA_SL_LINE;
            taken = kma_sl_next_gap(heap, first, lost ? order.lines : 0, draws ? 0 : gap >> KMA_SL_LINE_SHIFT,
                                    served != 0 ? order.lines : 0, min(kma_sl_whole_lines(2 * units), KMA_SL_LINE), most);
        }
        const uint leader = wants != 0 ? base + kma_sl_first_bit(wants) : kma_lane_id();
        const uint next = kma_lanes_shuffle(group, taken.first, leader);
        const uint lines = kma_lanes_shuffle(group, taken.count, leader);
        if ((failed && !redraws && first != KMA_SL_LOST) || !draws) {
            first = next;
            gap = lines << KMA_SL_LINE_SHIFT;
            units = lines != 0 ? units : 0;
        }
        if (first == KMA_SL_LOST) // no such lines are to be had
            units = 0;
        beyond = false;
    }
    kma_lanes_sync(group); // what the others acquired and wrote, all need
    return block;
}

#endif
