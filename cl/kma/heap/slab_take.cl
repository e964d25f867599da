// Blocks for lanes that come together: one slab for all of them, whatever their sizes, with one claim of lines.
//
// A lane's slot is its number, or its rank if all want the same size; so what a warp takes lies side by side, in the order
// of its lanes. Groups of more than 32 lanes are halves.
//
// A slab for few small blocks would be mostly empty: where no more than half would be used, or no lines are to be had, neither
// at the cursor nor elsewhere (slab_windows.cl), everybody is left to himself.
#ifndef KMA_HEAP_SLAB_TAKE_CL
#define KMA_HEAP_SLAB_TAKE_CL

#include "kma/platform/lanes.cl"
#include "kma/heap/ref.cl"
#include "kma/heap/slab_cursors.cl"
#include "kma/heap/slab_form.cl"

// What the lanes of a half want together.
typedef struct kma_sl_order {
    uint mates;  // those who want something, one bit for each lane of the half
    uint lines;  // of the slab; 0: none is to be made
    uint mark;
    uint header; // 0: none
    uint offset; // units in front of my block
    bool mixed;  // planes tell
    uint plane;  // the one with my rank among the mates, without KMA_SL_DATA
} kma_sl_order;

// The first lane of my half; 0 where no group has more than 32 lanes.
static inline uint kma_sl_base(void)
{
    return sizeof(kma_lanes) * 8 > KMA_SL_SLOTS ? kma_lane_id() / KMA_SL_SLOTS * KMA_SL_SLOTS : 0;
}

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
    const uint large = kma_sl_half(kma_lanes_ballot(group, units > 4), base);
    const bool is_small = mates == 0xffffffffu && large == 0;
    order->header = is_small ? 0 : kma_sl_mixed_header(0, is_coarse, (mates & KMA_SL_DATA) != 0, 0);
    const uint value = kma_sl_plane_value(order, units);
    uint total = is_small ? KMA_SL_SLOTS : 0;
    uint last = is_small ? 1 : 0; // what slot 31 wants
    uint before = is_small ? lane : 0;
    uint count = 0;
    const uint me = (uint)popcount(mates & ((1u << lane) - 1u));
    order->plane = 0;
    for (uint p = 0; p < KMA_SL_PLANES; p++) {
        const uint plane = kma_sl_half(kma_lanes_ballot(group, (value >> p & 1u) != 0), base);
        order->plane = me == p ? plane : order->plane;
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

// Whether too little of so many lines would be used.
static inline bool kma_sl_is_waste(uint units, uint lines)
{
    return units * 2 <= lines * KMA_SL_LINE;
}

// What the lanes of the group want, 0 units being nothing.
static inline kma_sl_order kma_sl_order_of(kma_lanes group, uint base, uint lane, uint units)
{
    const bool wants = units != 0 && units <= KMA_SL_MOST_EQUAL;
    kma_sl_order order;
    const uint mates = kma_sl_half(kma_lanes_ballot(group, wants), base);
    const uint its = kma_lanes_shuffle(group, units, mates != 0 ? base + kma_sl_first_bit(mates) : kma_lane_id());
    const kma_lanes differ = kma_lanes_ballot(group, wants && units != its);
    uint total = 0;
    if (differ != 0) // of either half
        total = kma_sl_order_mixed(&order, group, base, lane, units);
    if (kma_sl_half(differ, base) == 0) {
        order.mates = mates;
        total = kma_sl_order_equal(&order, lane, its);
    }
    if (((order.mates - 1) & order.mates) == 0 || kma_sl_is_waste(total, order.lines)) // nobody, one alone, or a waste
        order.lines = 0;
    return order;
}

static inline KMA_COLD kma_sl_part kma_sl_take_part_called(global kma_slab *heap, uint first, uint lines, uint me, uint many)
{
    const kma_sl_heap sl = kma_sl_open(heap);
    return kma_sl_take_part(&sl, first, lines, me, many);
}

// The cursor led halves of a group to lines of others: number `me` of `many` of his half gives back what he got. Up to eight of those of
// a half that are there together look at a share of the cursor's each, and the first one moves it: home, or to the first share that is
// free, or that begins so.
static inline KMA_COLD void kma_sl_lose(global kma_slab *heap, uint first, uint lines, uint me, uint many,
                                        kma_sl_part part)
{
    const kma_sl_heap sl = kma_sl_open(heap);
    const uint band = kma_sl_band_for(lines);
    const kma_lanes group = kma_lanes_alike(kma_lanes_active(), (ulong)kma_sl_cursor(heap, band, kma_sl_cursor_of(&sl)));
    kma_sl_give_part(&sl, first, lines, me, many, part);
    if (!kma_lane_in(group)) // of another cursor than the leader's
        return;
    const uint base = kma_sl_base();
    const uint leader = base + kma_sl_first_bit(kma_sl_half(group, base));
    const uint rank = (uint)popcount(kma_sl_half(group, base) & ((1u << kma_lane_id() % KMA_SL_SLOTS) - 1u));
    kma_sl_course course = kma_sl_course_of(&sl, band);
    course.seen = kma_lanes_shuffle(group, course.seen, leader); // another lane's may be a later one
    course.home = kma_lanes_shuffle(group, course.home, leader);
    const bool moves = !kma_sl_has_moved(&sl, &course, band, first);
    const bool goes_home = moves && kma_sl_is_home_free(&sl, &course, band, first);
    const uint count = moves && rank < KMA_SL_SHARES_AHEAD ? kma_sl_free_in_share(&sl, &course, band, rank) : 0;
    const uint whole = kma_sl_half(kma_lanes_ballot(group, count == 4), base);
    const uint some = kma_sl_half(kma_lanes_ballot(group, count != 0), base);
    const uint best = whole != 0 ? whole : some;
    const uint ahead = kma_lanes_shuffle(group, rank, best != 0 ? base + kma_sl_first_bit(best) : leader);
    if (rank == 0 && (goes_home || best != 0))
        kma_sl_set_course(&course, goes_home ? course.home : kma_sl_share_ahead(&course, band, ahead));
}

// Stores the owners of a new slab that lanes took together, after its header. A release unless bit 31 is set: another lane that
// reads them as those of a head's slab then reads this slab's header, too (slab_heads.cl).
static inline void kma_sl_put_owners(const kma_sl_heap *sl, uint first, uint owners)
{
    if ((owners & KMA_SL_DATA) != 0)
        kma_store_u32(kma_sl_word(sl, first), owners, KMA_RELAXED);
    else
        kma_store_u32(kma_sl_word(sl, first), owners, KMA_RELEASE);
}

// What tells of a new slab of `many` equal slots, but for the ways back to its first line.
static inline void kma_sl_write_equal(const kma_sl_heap *sl, uint first, uint units, uint many)
{
    if (units != 1)
        kma_store_u32(kma_sl_word(sl, first + 1), kma_sl_equal_header(units, many), KMA_RELAXED);
    kma_sl_put_owners(sl, first, kma_sl_all_slots(many));
    kma_sl_put_mark(sl, first, units != 1 ? KMA_SL_MARK_HEADER : KMA_SL_MARK_FINE);
}

// Planes of a slab whose sizes differ.
static inline uint kma_sl_planes_of(const kma_sl_order *order)
{
    return !order->mixed ? 0 : order->header != 0 ? order->header & 7u : 2u;
}

// Planes of a new slab of a half with fewer lanes than these, each of which has kept one only: the lanes work them out once more,
// and the last one writes what is left. `count`: 0 for who has no such slab.
static inline void kma_sl_write_planes(global kma_slab *heap, kma_lanes group, const kma_sl_order *order, uint count, uint first,
                                       uint units)
{
    const uint me = (uint)popcount(order->mates & ((1u << kma_lane_id() % KMA_SL_SLOTS) - 1u));
    const uint value = kma_sl_plane_value(order, units);
    const kma_sl_heap sl = kma_sl_open(heap);
    global kma_atomic_u32 *const planes = kma_sl_word(&sl, count != 0 ? first : 0) + (order->header != 0 ? 2 : 1);
    for (uint p = 0; p < KMA_SL_PLANES; p++) {
        const uint plane = kma_sl_half(kma_lanes_ballot(group, (value >> p & 1u) != 0), kma_sl_base());
        if (p < count && me == min(p, (uint)popcount(order->mates) - 1))
            kma_store_u32(&planes[p], KMA_SL_DATA | plane, KMA_RELAXED);
    }
}

// The caller's share of what tells of a new slab of his half, but for planes of which there are more than lanes.
static inline void kma_sl_write_share(const kma_sl_heap *sl, const kma_sl_order *order, uint first, uint units)
{
    const uint me = (uint)popcount(order->mates & ((1u << kma_lane_id() % KMA_SL_SLOTS) - 1u));
    const uint many = (uint)popcount(order->mates);
    const uint planes = kma_sl_planes_of(order);
    global kma_atomic_u32 *const words = kma_sl_word(sl, first);
    if (me < planes && planes <= many)
        kma_store_u32(&words[me + (order->header != 0 ? 2 : 1)], KMA_SL_DATA | order->plane, KMA_RELAXED);
    if (me == 0 && !order->mixed) {
        kma_sl_write_equal(sl, first, units, many);
    } else if (me == 0) {
        if (order->header != 0)
            kma_store_u32(&words[1], order->header, KMA_RELAXED);
        kma_sl_put_owners(sl, first, order->mates);
        kma_sl_put_mark(sl, first, order->mark);
    }
    if (order->lines > KMA_SL_BACK)
        kma_sl_put_backs(sl, first, order->lines, me, many);
}

static inline KMA_COLD void kma_sl_write_share_called(global kma_slab *heap, const kma_sl_order *order, uint first, uint units)
{
    const kma_sl_heap sl = kma_sl_open(heap);
    kma_sl_write_share(&sl, order, first, units);
}

// Writes what tells of a new slab, before anybody is told of a block of it: for any group.
static inline void kma_sl_write_slab(global kma_slab *heap, kma_lanes group, const kma_sl_order *order, bool got, uint first,
                                     uint units)
{
    const uint planes = got ? kma_sl_planes_of(order) : 0;
    const bool is_few = (uint)popcount(order->mates) < planes;
    if (kma_lanes_ballot(group, is_few) != 0)
        kma_sl_write_planes(heap, group, order, is_few ? planes : 0, first, units);
    if (got)
        kma_sl_write_share_called(heap, order, first, units);
}

// What a lane got of a slab that its half wanted.
typedef struct kma_sl_share {
    kma_ref block; // KMA_NULL: none
    bool failed;   // the half came to the end of a cursor's share, or to lines of others:
    bool lost;     // then what it got of them must be given back, by kma_sl_lose with what follows
    uint first;
    uint lines;
    uint me;
    uint many;
    kma_sl_part part;
} kma_sl_share;

// For each lane of the group a block of so many units (0: it wants none) in a slab of lines at the cursor, for halves in which
// at least `least` lanes want one.
static inline kma_sl_share kma_sl_take_drawn(global kma_slab *heap, kma_lanes group, uint units, uint least)
{
    const uint base = kma_sl_base();
    const uint lane = kma_lane_id() % KMA_SL_SLOTS;
    // Halves of so many lanes have no slab with more planes than lanes, and are in a hurry. Others call what they can.
    const bool in_line = least >= KMA_SL_PLANES;
    const kma_sl_heap sl = kma_sl_open(heap);
    const uint scarce = kma_sl_scarce(heap); // soon, so that nobody waits for it
    const kma_sl_order order = kma_sl_order_of(group, base, lane, units);
    const bool makes = order.lines != 0 && (uint)popcount(order.mates) >= least;
    const uint mates = makes ? order.mates : 0;
    const bool waits = (mates >> lane & 1u) != 0;
    const uint me = (uint)popcount(mates & ((1u << lane) - 1u));
    uint first = KMA_SL_NONE;
    if (waits && me == 0)
        first = order.lines > scarce ? KMA_SL_LOST
                : in_line            ? kma_sl_draw(&sl, kma_sl_band_for(order.lines), order.lines)
                                     : kma_sl_draw_called(heap, order.lines);
    first = kma_lanes_shuffle(group, first, makes ? base + kma_sl_first_bit(mates) : kma_lane_id());
    kma_sl_share share;
    share.first = first;
    share.lines = order.lines;
    share.me = me;
    share.many = (uint)popcount(mates);
    share.part.chunk = KMA_SL_NONE;
    share.part.mask = 0;
    if (waits && first < KMA_SL_LOST)
        share.part = in_line ? kma_sl_take_part(&sl, first, order.lines, me, share.many)
                             : kma_sl_take_part_called(heap, first, order.lines, me, share.many);
    const uint losers = kma_sl_half(kma_lanes_ballot(group, share.part.chunk != KMA_SL_NONE), base);
    share.lost = waits && losers != 0;
    const bool got = waits && first < KMA_SL_LOST && !share.lost;
    kma_lanes_sync(group); // each acquired the lines that it claimed, and writes words of others
    if (!in_line)
        kma_sl_write_slab(heap, group, &order, got, first, units);
    else if (got)
        kma_sl_write_share(&sl, &order, first, units);
    share.block = got ? heap->plan.begin + first * KMA_SL_LINE + order.offset : KMA_NULL;
    share.failed = waits && !got && first != KMA_SL_LOST; // of which there are none to be had
    return share;
}

#if KMA_SHORT_PATHS
// Whether all lanes that there may be get a slab of their own if each wants a block of so many units, and none has more than one
// chunk of it to claim.
static inline bool kma_sl_is_for_all(uint units)
{
    const uint many = kma_lanes_count(KMA_LANES_ALL);
    if (units < 2)
        return units == 1 && many == KMA_SL_SLOTS;
    const uint lines = kma_sl_lines_for(units, many);
    return units <= KMA_SL_MOST_EQUAL && lines <= (many - 1) * KMA_SL_LINE && !kma_sl_is_waste(units * many, lines);
}

// kma_sl_take_drawn for all lanes that there may be, all of which want a block of so many units, as kma_sl_is_for_all says.
static inline kma_sl_share kma_sl_take_equal(global kma_slab *heap, uint units)
{
    const kma_sl_heap sl = kma_sl_open(heap);
    const uint scarce = kma_sl_scarce(heap); // soon, so that nobody waits for it
    kma_sl_share share;
    share.many = kma_lanes_count(KMA_LANES_ALL);
    share.me = kma_lane_of_all();
    share.lines = units == 1 ? 1 : kma_sl_lines_for(units, share.many);
    uint first = KMA_SL_NONE;
    if (share.me == 0)
        first = share.lines > scarce ? KMA_SL_LOST : kma_sl_draw(&sl, kma_sl_band_for(share.lines), share.lines);
    share.first = kma_lanes_first(KMA_LANES_ALL, first);
    share.part.chunk = KMA_SL_NONE;
    share.part.mask = 0;
    if (share.first < KMA_SL_LOST)
        share.part = kma_sl_take_chunk(&sl, share.first, share.lines, (share.first >> KMA_SL_LINE_SHIFT) + share.me);
    share.lost = kma_lanes_ballot(KMA_LANES_ALL, share.part.chunk != KMA_SL_NONE) != 0;
    share.failed = share.first == KMA_SL_NONE || share.lost;
    share.block = KMA_NULL;
    if (share.first >= KMA_SL_LOST || share.lost)
        return share;
    kma_lanes_sync(KMA_LANES_ALL); // as in kma_sl_take_drawn
    if (share.me == 0)
        kma_sl_write_equal(&sl, share.first, units, share.many);
    if (share.lines > KMA_SL_BACK)
        kma_sl_put_backs(&sl, share.first, share.lines, share.me, share.many);
    share.block = sl.plan.begin + share.first * KMA_SL_LINE + share.me * units;
    return share;
}
#endif

#endif
