// How the slab heap takes back a block: which slot a pointer means, whose bit it is, and what it was the last of.
#ifndef KMA_HEAP_SLAB_RELEASE_CL
#define KMA_HEAP_SLAB_RELEASE_CL

#include "kma/platform/lanes.cl"
#include "kma/heap/error_log.cl"
#include "kma/heap/slab_holes.cl"

// A place in the heap as its slabs see it. `error` is KMA_ERROR_CODES if a block may start there, else what a free of it
// would be.
typedef struct kma_sl_spot {
    uint first; // line of the slab
    uint mark;
    uint slot;
    uint units; // of each slot; 0: planes tell
    uint slots; // all that the slab has, one bit for each
    uint lines;
    uint least; // of planes: kma_sl_form
    uint shift;
    uint error;
} kma_sl_spot;

// Units of the slots in front of a slot, as kma_sl_offset; unrolled, so that all planes are in registers.
static inline uint kma_sl_planes_offset(const uint *planes, uint least, uint shift, uint slot)
{
    const uint below = (1u << slot) - 1u; // slot 31 at most
    uint sum = least * slot;
    for (uint p = 0; p < KMA_SL_PLANES; p++)
        sum += (uint)popcount(planes[p] & below) << p;
    return sum << shift;
}

// The planes of a slab whose sizes these tell, those that it lacks being 0, and with them its slots and lines.
static inline void kma_sl_read_planes(const kma_sl_heap *sl, kma_sl_spot *at, uint header, uint *planes)
{
    const kma_sl_form form = kma_sl_form_with(at->mark, header); // without planes
    global kma_atomic_u32 *const words = kma_sl_word(sl, at->first + (form.least == 0 ? 2 : 1));
    for (uint p = 0; p < KMA_SL_PLANES; p++)
        planes[p] = p < form.count ? kma_load_u32(&words[p], KMA_RELAXED) & ~KMA_SL_DATA : 0;
    at->units = 0;
    at->lines = form.lines;
    at->slots = form.slots;
    at->least = form.least;
    at->shift = form.shift;
    if (form.least != 0)
        at->lines = kma_sl_small_lines(kma_sl_planes_offset(planes, 1, 0, KMA_SL_SLOTS - 1));
    else
        for (uint p = 0; p < KMA_SL_PLANES; p++)
            at->slots |= planes[p];
}

// The slot that begins `within` units behind the start of such a slab; KMA_SL_NONE if none does.
static inline uint kma_sl_slot_by_planes(const kma_sl_spot *at, const uint *planes, uint within)
{
    uint slot = kma_lane_id() % KMA_SL_SLOTS; // who took it often is who frees it
    if (kma_sl_planes_offset(planes, at->least, at->shift, slot) == within && (at->slots >> slot & 1u) != 0)
        return slot;
    slot = 0; // the last one that begins there or before: of those of no size the one behind them
    for (uint step = KMA_SL_SLOTS / 2; step != 0; step /= 2)
        if (kma_sl_planes_offset(planes, at->least, at->shift, slot + step) <= within)
            slot += step;
    while (slot != 0 && (at->slots >> slot & 1u) == 0) // behind the last slot that there is: back to it
        slot--;
    const bool is_start = kma_sl_planes_offset(planes, at->least, at->shift, slot) == within;
    return is_start && (at->slots >> slot & 1u) != 0 ? slot : KMA_SL_NONE;
}

// Where a pointer leads: the slab, and how far behind its start.
typedef struct kma_sl_point {
    uint first; // line of the slab; KMA_SL_NONE: there is none, or the pointer leads out of the heap, or into a unit
    uint mark;
    uint line;
    uint unit;
    uint next; // the word behind the line's: the slab's header, if it begins at this line
} kma_sl_point;

static inline kma_sl_point kma_sl_point_of(const kma_sl_heap *sl, global void *ptr, uint *error)
{
    kma_sl_point point;
    point.mark = point.line = point.unit = point.next = 0;
    point.first = KMA_SL_NONE;
    *error = KMA_ERROR_INVALID_FREE;
    const size_t offset = (size_t)ptr - (size_t)sl->heap; // of a pointer below the heap: huge
    const size_t place = offset / KMA_UNIT;
    if (offset % KMA_UNIT != 0 || place < sl->plan.begin || place >= sl->plan.limit)
        return point;
    *error = KMA_ERROR_DOUBLE_FREE; // if no slab is there: there may have been one
    point.unit = (uint)place - sl->plan.begin;
    point.line = point.unit >> KMA_SL_LINE_SHIFT;
    point.next = kma_load_u32(kma_sl_word(sl, point.line) + 1, KMA_RELAXED);
    point.first = kma_sl_first_of(sl, point.line, &point.mark);
    return point;
}

static inline bool kma_sl_has_header(uint mark)
{
    return (mark & KMA_SL_MARK_FORM) == KMA_SL_MARK_HEADER;
}

// The header of a slab there is, which has one.
static inline uint kma_sl_header_at(const kma_sl_heap *sl, kma_sl_point point)
{
    return point.line == point.first ? point.next : kma_load_u32(kma_sl_word(sl, point.first + 1), KMA_RELAXED);
}

// The slab at a line, a slot of it still to be found; `planes` if these tell.
static inline kma_sl_spot kma_sl_slab_at(const kma_sl_heap *sl, uint first, uint mark, uint header, uint *planes)
{
    const uint value = header & KMA_SL_VALUE;
    const bool has_header = kma_sl_has_header(mark);
    kma_sl_spot at;
    at.first = first;
    at.mark = mark;
    at.slot = KMA_SL_NONE;
    at.units = at.lines = 1;
    at.slots = 0xffffffffu;
    at.least = at.shift = 0;
    at.error = KMA_ERROR_CODES;
    if ((mark & KMA_SL_MARK_FORM) == KMA_SL_MARK_SMALL || (has_header && (header & KMA_SL_MIXED) != 0)) {
        kma_sl_read_planes(sl, &at, header, planes);
    } else if (has_header && (header & KMA_SL_RUN) != 0) {
        at.lines = value;
        at.units = value << KMA_SL_LINE_SHIFT;
        at.slots = 1u;
    } else if (has_header) {
        at.units = max(value >> 6, 1u); // which only a block that is free already can have less
        at.lines = kma_sl_lines_for(at.units, value & 63u);
        at.slots = kma_sl_all_slots(value & 63u);
    }
    return at;
}

// The slot that begins at a point of a slab that there is. Equal slots, which most slabs have, need no more than the header.
static inline kma_sl_spot kma_sl_spot_at(const kma_sl_heap *sl, kma_sl_point point, uint header)
{
    uint planes[KMA_SL_PLANES] = {0};
    kma_sl_spot at = kma_sl_slab_at(sl, point.first, point.mark, header, planes);
    const uint within = point.unit - point.first * KMA_SL_LINE;
    if (at.units == 0) {
        at.slot = kma_sl_slot_by_planes(&at, planes, within);
    } else {
        const uint slot = within / at.units;
        if (slot * at.units == within && slot < KMA_SL_SLOTS && (at.slots >> slot & 1u) != 0)
            at.slot = slot;
    }
    if (at.slot == KMA_SL_NONE)
        at.error = point.line - point.first < at.lines ? KMA_ERROR_INVALID_FREE : KMA_ERROR_DOUBLE_FREE;
    return at;
}

static inline kma_sl_spot kma_sl_no_spot(uint error)
{
    kma_sl_spot at;
    at.first = at.slot = at.units = at.slots = at.lines = at.least = at.shift = at.mark = 0;
    at.error = error;
    return at;
}

static inline KMA_COLD kma_sl_spot kma_sl_spot_of(global kma_slab *heap, global void *ptr)
{
    const kma_sl_heap sl = kma_sl_open(heap);
    uint error;
    const kma_sl_point point = kma_sl_point_of(&sl, ptr, &error);
    if (point.first == KMA_SL_NONE)
        return kma_sl_no_spot(error);
    return kma_sl_spot_at(&sl, point, kma_sl_has_header(point.mark) ? kma_sl_header_at(&sl, point) : 0);
}

// Whether the heap gave somebody the block at a place without error.
static inline bool kma_sl_is_taken(const kma_sl_heap *sl, kma_sl_spot at)
{
    return (kma_load_u32(kma_sl_word(sl, at.first), KMA_RELAXED) >> at.slot & 1u) != 0;
}

// Units of the block at such a place.
static inline uint kma_sl_units_at(const kma_sl_heap *sl, kma_sl_spot at)
{
    if (at.units != 0)
        return at.units;
    const kma_sl_form form = kma_sl_form_of(sl, at.first, at.mark);
    return kma_sl_room(&form, at.slot);
}

// Clears `slots` of a slab, one of which is the caller's, and mostly not all that it ever had at once; returns those that
// were set. If they were the last, the slab ends.
static inline KMA_COLD uint kma_sl_release_some(global kma_slab *heap, uint first, uint slots)
{
    const kma_sl_heap sl = kma_sl_open(heap);
    const uint mark = kma_sl_mark(&sl, first);
    const kma_sl_form form = kma_sl_form_of(&sl, first, mark);
    kma_sl_make_holey(&sl, first, mark);
    // Acquires what others released who cleared some before: all that comes before the lines are given back.
    const uint before = kma_fetch_and_u32(kma_sl_word(&sl, first), ~slots, KMA_ACQ_REL);
    const uint mine = before & slots;
    if (mine != 0 && (before & ~slots) == 0)
        kma_sl_close(heap, first);
    else if (mine != 0 && kma_sl_makes_hole(&form, before))
        kma_sl_list_holes(heap, &form, first, mine);
    else if (mine == 0)
        kma_sl_unmark_stray(heap, first);
    return mine;
}

// Ends a slab of so many lines all of whose slots the caller has. Not if others freed some of these, wrongly, or somebody has set
// bits who took it for a head's slab (slab_heads.cl): who clears the last of these ends it.
static inline bool kma_sl_end(const kma_sl_heap *sl, uint first, uint slots, uint lines)
{
    if (kma_cas_u32(kma_sl_word(sl, first), slots, 0, KMA_RELAXED) != slots)
        return false;
    kma_sl_unmark(sl, first);
    kma_sl_give(sl, first, lines); // whose next owner finds no mark in them
    return true;
}

// Lanes free the blocks of a slab together if this is the same for them: who has not seen that the slab has holes frees for
// himself, as no look at pins would follow for the others.
static inline uint kma_sl_freed_as(uint first, uint mark)
{
    return first << 1 | (mark & KMA_SL_MARK_HOLEY) / KMA_SL_MARK_HOLEY;
}

#if KMA_SHORT_PATHS
// Of a slab whose lanes are all that there may be: the slot of the calling lane, if they took the slab together.
typedef struct kma_sl_turn {
    uint offset; // units in front of it; KMA_SL_NONE: it has none
    uint lines;  // of the slab, all of whose slots belong to lanes; 0: not all
    uint slots;
} kma_sl_turn;

// Of a slab whose header says that planes tell sizes.
static inline KMA_COLD kma_sl_turn kma_sl_turn_by_planes(global kma_slab *heap, uint first, uint header)
{
    kma_sl_turn turn;
    turn.offset = KMA_SL_NONE;
    turn.lines = turn.slots = 0;
    const kma_sl_heap sl = kma_sl_open(heap);
    uint planes[KMA_SL_PLANES] = {0};
    const kma_sl_spot at = kma_sl_slab_at(&sl, first, KMA_SL_MARK_HEADER, header, planes);
    const uint slot = kma_lane_id() % KMA_SL_SLOTS;
    if ((at.slots >> slot & 1u) != 0)
        turn.offset = kma_sl_planes_offset(planes, at.least, at.shift, slot);
    if ((uint)popcount(at.slots) == kma_lanes_count(KMA_LANES_ALL))
        turn.lines = at.lines;
    turn.slots = at.slots;
    return turn;
}

// Of a small slab.
static inline kma_sl_turn kma_sl_turn_by_two(uint low, uint high)
{
    const uint planes[KMA_SL_PLANES] = {low & ~KMA_SL_DATA, high & ~KMA_SL_DATA};
    const bool for_all = kma_lanes_count(KMA_LANES_ALL) == KMA_SL_SLOTS;
    kma_sl_turn turn;
    turn.offset = kma_sl_planes_offset(planes, 1, 0, kma_lane_id() % KMA_SL_SLOTS);
    turn.lines = for_all ? kma_sl_small_lines(kma_sl_planes_offset(planes, 1, 0, KMA_SL_SLOTS - 1)) : 0;
    turn.slots = 0xffffffffu;
    return turn;
}

// Of equal slots, or of a run, which has one.
static inline kma_sl_turn kma_sl_turn_in_row(uint mark, uint header)
{
    const uint many = kma_lanes_count(KMA_LANES_ALL);
    const bool has_header = kma_sl_has_header(mark);
    const uint units = has_header ? (header & KMA_SL_VALUE) >> 6 : 1;
    const bool for_all = has_header ? (header & (KMA_SL_RUN | 63u)) == many : many == KMA_SL_SLOTS;
    kma_sl_turn turn;
    turn.offset = kma_lane_of_all() * units;
    turn.lines = !for_all ? 0 : has_header ? kma_sl_lines_for(units, many) : 1;
    turn.slots = kma_sl_all_slots(many);
    return turn;
}

// Ends a slab all of whose slots the caller frees with all lanes that there may be, each lane the slot that it has if they took
// the slab together: whether it did. All that is looked at is the same for all lanes, so that each need only compare.
static inline bool kma_sl_end_in_order(global kma_slab *heap, global void *ptr)
{
    const kma_sl_heap sl = kma_sl_open(heap);
    const uint unit = (uint)(((ulong)ptr - (ulong)heap) / KMA_UNIT);
    const uint first = (kma_lanes_first(KMA_LANES_ALL, unit) - sl.plan.begin) >> KMA_SL_LINE_SHIFT;
    if (first >= kma_sl_lines(&sl))
        return false;
    // One lane may see that the slab is HOLEY and another not yet: so no lane leaves before all have said what they see.
    const uint header = kma_load_u32(kma_sl_word(&sl, first) + 1, KMA_RELAXED); // soon, so that nobody waits for it
    const uint mark = kma_sl_mark(&sl, first);
    const uint form = mark & KMA_SL_MARK_FORM;
    kma_sl_turn turn;
    if (form == KMA_SL_MARK_SMALL)
        turn = kma_sl_turn_by_two(header, kma_load_u32(kma_sl_word(&sl, first) + 2, KMA_RELAXED));
    else if (kma_sl_has_header(mark) && (header & KMA_SL_MIXED) != 0)
        turn = kma_sl_turn_by_planes(heap, first, header);
    else
        turn = kma_sl_turn_in_row(mark, header);
    const size_t place = sl.plan.begin + first * KMA_SL_LINE + turn.offset;
    const bool is_mine = form == mark && form != 0 && turn.lines != 0 && turn.offset != KMA_SL_NONE &&
                         (global uchar *)ptr == (global uchar *)heap + place * KMA_UNIT;
    if (kma_lanes_ballot(KMA_LANES_ALL, is_mine) != KMA_LANES_ALL)
        return false;
    kma_lanes_sync(KMA_LANES_ALL); // the leader's release stands for all
    uint ended = 0;
    if (kma_lane_of_all() == 0)
        ended = kma_sl_end(&sl, first, turn.slots, turn.lines) ? 1 : 0;
    return kma_lanes_first(KMA_LANES_ALL, ended) != 0;
}
#endif

// Clears `slots` of a slab, of which at least one is the caller's, who has seen that mark; returns those that were set.
static inline KMA_COLD uint kma_sl_release(global kma_slab *heap, uint first, uint mark, uint slots)
{
    const kma_sl_heap sl = kma_sl_open(heap);
    if ((mark & KMA_SL_MARK_HOLEY) == 0) {
        const kma_sl_form form = kma_sl_form_of(&sl, first, mark);
        if (slots == form.slots && kma_sl_end(&sl, first, slots, form.lines))
            return slots;
    }
    return kma_sl_release_some(heap, first, slots);
}

#if KMA_LONE_PATHS
// Takes back the block of a lane alone, one of equal ones of a slab that has, or had, holes: whether it did. If not, it has done
// nothing.
static inline KMA_COLD bool kma_sl_release_one(global kma_slab *heap, global void *ptr)
{
    bool done = false;
    const kma_sl_heap sl = kma_sl_open(heap);
    const size_t offset = (size_t)ptr - (size_t)heap; // of a pointer below the heap: huge
    if (offset % KMA_UNIT != 0 || offset / KMA_UNIT < sl.plan.begin || offset / KMA_UNIT >= sl.plan.limit)
        return done;
    const uint unit = (uint)(offset / KMA_UNIT) - sl.plan.begin;
    uint mark;
    const uint first = kma_sl_first_of(&sl, unit >> KMA_SL_LINE_SHIFT, &mark);
    if (first == KMA_SL_NONE || (mark & KMA_SL_MARK_HOLEY) == 0 || (mark & KMA_SL_MARK_FORM) == KMA_SL_MARK_SMALL)
        return done;
    uint units = 1, count = KMA_SL_SLOTS;
    uint slot = unit - first * KMA_SL_LINE;
    if (kma_sl_has_header(mark)) {
        const uint header = kma_load_u32(kma_sl_word(&sl, first + 1), KMA_RELAXED);
        units = (header & KMA_SL_VALUE) >> 6;
        count = header & 63u;
        // Of a block that is free already this may be anything by now.
        if ((header & (KMA_SL_RUN | KMA_SL_MIXED)) != 0 || units == 0 || count > KMA_SL_SLOTS || slot % units != 0)
            return done;
        slot /= units;
    }
    if (slot >= count)
        return done;
    const uint slots = kma_sl_all_slots(count); // others' bits may be beyond these (kma_sl_undo)
    const uint mine = 1u << slot;
    const uint before = kma_fetch_and_u32(kma_sl_word(&sl, first), ~mine, KMA_ACQ_REL);
    done = (before & mine) != 0; // else it was free
    if (before == mine)
        kma_sl_close(heap, first);
    else if (done && (before & slots) == slots) // its first hole
        kma_sl_tree_put(heap, kma_sl_class_within(units), first >> KMA_SL_LINE_SHIFT);
    return done;
}
#endif

// A record of a wrong free.
static inline KMA_COLD void kma_sl_report_free(global kma_slab *heap, uint error, global void *ptr)
{
    kma_report(&heap->header, error, kma_wrong_ref(&heap->header, ptr), 0);
}

// kma_slab_release, of what need not be all of a slab.
static inline KMA_COLD void kma_slab_release_anyhow(global kma_slab *heap, global void *ptr)
{
    const kma_sl_spot at = kma_sl_spot_of(heap, ptr);
    const uint mine = at.error == KMA_ERROR_CODES ? 1u << at.slot : 0;
    KMA_IN_MEMORY uint error = at.error;
    uint slots = mine; // that I release,
    uint who = kma_lane_id(); // or the lane that does so for me
    const kma_lanes group = kma_lanes_alike(kma_lanes_active(), (ulong)heap);
    if (kma_lane_in(group)) { // else it is of another heap than the leader's
        const kma_lanes together = kma_lanes_match(group, mine != 0 ? kma_sl_freed_as(at.first, at.mark) : KMA_SL_NONE, 32);
        const uint ours = kma_lanes_or(group, together, mine);
        kma_lanes_sync(group); // a leader's release stands for all who free with it
        if ((uint)popcount(ours) == kma_lanes_count(together)) { // else two free one block, and each for himself
            who = kma_lowest_bit(together);
            slots = kma_lane_leads(together) ? ours : 0;
        }
    }
    uint given = slots != 0 ? kma_sl_release(heap, at.first, at.mark, slots) : 0;
    if (kma_lane_in(group))
        given = kma_lanes_shuffle(group, given, who);
    if (mine != 0 && (given & mine) == 0)
        error = KMA_ERROR_DOUBLE_FREE;
    if (error != KMA_ERROR_CODES)
        kma_sl_report_free(heap, error, ptr);
}

// Takes back what the heap gave at `ptr`, the start of a block. A record if it is none, or free already.
static inline void kma_slab_release(global kma_slab *heap, global void *ptr)
{
#if KMA_SHORT_PATHS || KMA_LONE_PATHS
    const kma_lanes active = kma_lanes_active();
#endif
#if KMA_SHORT_PATHS
    if (active == KMA_LANES_ALL && kma_lanes_alike(KMA_LANES_ALL, (ulong)heap) == KMA_LANES_ALL &&
        kma_sl_end_in_order(heap, ptr))
        return;
#endif
#if KMA_LONE_PATHS
    if (kma_lanes_count(active) == 1 && kma_sl_release_one(heap, ptr))
        return;
#endif
    kma_slab_release_anyhow(heap, ptr);
}

#endif
