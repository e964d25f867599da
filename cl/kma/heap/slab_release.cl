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

// The slot that begins `within` units behind the start of a slab whose sizes planes tell; KMA_SL_NONE if none does.
static inline uint kma_sl_slot_by_planes(const kma_sl_heap *sl, kma_sl_spot *at, uint header, uint within)
{
    const kma_sl_form form = kma_sl_form_with(at->mark, header); // without planes
    global kma_atomic_u32 *const words = kma_sl_word(sl, at->first + (form.least == 0 ? 2 : 1));
    uint planes[KMA_SL_PLANES];
    for (uint p = 0; p < KMA_SL_PLANES; p++)
        planes[p] = p < form.count ? kma_load_u32(&words[p], KMA_RELAXED) & ~KMA_SL_DATA : 0;
    at->lines = form.lines;
    at->slots = form.slots;
    if (form.least != 0)
        at->lines = kma_sl_small_lines(kma_sl_planes_offset(planes, 1, 0, KMA_SL_SLOTS - 1));
    else
        for (uint p = 0; p < KMA_SL_PLANES; p++)
            at->slots |= planes[p];
    uint slot = kma_lane_id() % KMA_SL_SLOTS; // who took it often is who frees it
    if (kma_sl_planes_offset(planes, form.least, form.shift, slot) == within && (at->slots >> slot & 1u) != 0)
        return slot;
    slot = 0; // the last one that begins there or before: of those of no size the one behind them
    for (uint step = KMA_SL_SLOTS / 2; step != 0; step /= 2)
        if (kma_sl_planes_offset(planes, form.least, form.shift, slot + step) <= within)
            slot += step;
    while (slot != 0 && (at->slots >> slot & 1u) == 0) // behind the last slot that there is: back to it
        slot--;
    const bool is_start = kma_sl_planes_offset(planes, form.least, form.shift, slot) == within;
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

// The slot that begins at a point of a slab that there is. Equal slots, which most slabs have, need no more than the header.
static inline kma_sl_spot kma_sl_spot_at(const kma_sl_heap *sl, kma_sl_point point, uint header)
{
    const uint value = header & KMA_SL_VALUE;
    const uint within = point.unit - point.first * KMA_SL_LINE;
    const bool has_header = kma_sl_has_header(point.mark);
    kma_sl_spot at;
    at.first = point.first;
    at.mark = point.mark;
    at.units = at.lines = 1;
    at.slots = 0xffffffffu;
    at.slot = within;
    if ((point.mark & KMA_SL_MARK_FORM) == KMA_SL_MARK_SMALL || (has_header && (header & KMA_SL_MIXED) != 0)) {
        at.units = 0;
        at.slot = kma_sl_slot_by_planes(sl, &at, header, within);
    } else if (has_header && (header & KMA_SL_RUN) != 0) {
        at.lines = value;
        at.units = value << KMA_SL_LINE_SHIFT;
        at.slots = 1u;
        at.slot = within == 0 ? 0 : KMA_SL_NONE;
    } else {
        if (has_header) {
            at.units = max(value >> 6, 1u); // which only a block that is free already can have less
            at.lines = kma_sl_lines_for(at.units, value & 63u);
            at.slots = kma_sl_all_slots(value & 63u);
            at.slot = within / at.units;
        }
        if (at.slot * at.units != within || at.slot >= KMA_SL_SLOTS || (at.slots >> at.slot & 1u) == 0)
            at.slot = KMA_SL_NONE;
    }
    at.error = at.slot != KMA_SL_NONE                       ? KMA_ERROR_CODES
               : point.line - point.first < at.lines ? KMA_ERROR_INVALID_FREE
                                                     : KMA_ERROR_DOUBLE_FREE;
    return at;
}

static inline kma_sl_spot kma_sl_no_spot(uint error)
{
    kma_sl_spot at;
    at.first = at.slot = at.units = at.slots = at.lines = at.mark = 0;
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
    uint mine = 0;
    KMA_CALL_ITSELF(heap, mine = kma_sl_release_some(heap, first, slots));
    const kma_sl_heap sl = kma_sl_open(heap);
    const uint mark = kma_sl_mark(&sl, first);
    const kma_sl_form form = kma_sl_form_of(&sl, first, mark);
    kma_sl_make_holey(&sl, first, mark);
    // Acquires what others released who cleared some before: all that comes before the lines are given back.
    const uint before = kma_fetch_and_u32(kma_sl_word(&sl, first), ~slots, KMA_ACQ_REL);
    mine = before & slots;
    if (mine != 0 && (before & ~slots) == 0)
        kma_sl_close(heap, first);
    else if (mine != 0 && kma_sl_makes_hole(&form, before))
        kma_sl_list_holes(heap, &form, first, mine);
    else if (mine == 0)
        kma_sl_unmark_stray(heap, first);
    return mine;
}

// Ends a slab all of whose slots the caller has. Not if others freed some of these, wrongly, or somebody has set bits who took
// it for a head's slab (slab_heads.cl): who clears the last of these ends it.
static inline bool kma_sl_end(const kma_sl_heap *sl, kma_sl_spot at)
{
    if (kma_cas_u32(kma_sl_word(sl, at.first), at.slots, 0, KMA_RELAXED) != at.slots)
        return false;
    kma_sl_unmark(sl, at.first);
    kma_sl_give(sl, at.first, at.lines); // whose next owner finds no mark in them
    return true;
}

// Lanes free the blocks of a slab together if this is the same for them: who has not seen that the slab has holes frees for
// himself, as no look at pins would follow for the others.
static inline uint kma_sl_freed_as(uint first, uint mark)
{
    return first << 1 | (mark & KMA_SL_MARK_HOLEY) / KMA_SL_MARK_HOLEY;
}

#if KMA_SHORT_PATHS
// Ends the slab of a block if all of its slots are freed by lanes that are here together, which are all; whether it did.
static inline bool kma_sl_end_together(global kma_slab *heap, global void *ptr)
{
    const kma_sl_heap sl = kma_sl_open(heap);
    uint error;
    const kma_sl_point point = kma_sl_point_of(&sl, ptr, &error);
    const bool is_there = point.first != KMA_SL_NONE;
    const uint slab = is_there ? kma_sl_freed_as(point.first, point.mark) : KMA_SL_NONE;
    const kma_lanes together = kma_lanes_match(KMA_LANES_ALL, slab, 32);
    uint header = 0; // of whom the slab begins at, often, so that nobody has to wait for it
    if (is_there && kma_sl_has_header(point.mark) && kma_lane_leads(together))
        header = kma_sl_header_at(&sl, point);
    header = kma_lanes_shuffle(KMA_LANES_ALL, header, kma_lowest_bit(together));
    const kma_sl_spot at = is_there ? kma_sl_spot_at(&sl, point, header) : kma_sl_no_spot(error);
    const uint slots = kma_lanes_or(KMA_LANES_ALL, together, at.error == KMA_ERROR_CODES ? 1u << at.slot : 0);
    kma_lanes_sync(KMA_LANES_ALL); // a leader's release stands for all who free with it
    // Not if two free one block, or one none.
    const bool whole = slots != 0 && slots == at.slots && (uint)popcount(slots) == kma_lanes_count(together) &&
                       (at.mark & KMA_SL_MARK_HOLEY) == 0;
    uint ended = 0;
    if (whole && kma_lane_leads(together))
        ended = kma_sl_end(&sl, at) ? 1 : 0;
    return kma_lanes_shuffle(KMA_LANES_ALL, ended, kma_lowest_bit(together)) != 0;
}
#endif

// Clears `slots` of a slab, of which at least one is the caller's; returns those that were set.
static inline KMA_COLD uint kma_sl_release(global kma_slab *heap, kma_sl_spot at, uint slots)
{
    const kma_sl_heap sl = kma_sl_open(heap);
    if (slots == at.slots && (at.mark & KMA_SL_MARK_HOLEY) == 0 && kma_sl_end(&sl, at))
        return slots;
    return kma_sl_release_some(heap, at.first, slots);
}

#if KMA_LONE_PATHS
// Takes back the block of a lane alone, one of equal ones of a slab that has, or had, holes: whether it did. If not, it has done
// nothing.
static inline KMA_COLD bool kma_sl_release_one(global kma_slab *heap, global void *ptr)
{
    bool done = false;
    KMA_CALL_ITSELF(heap, done = kma_sl_release_one(heap, ptr));
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

// kma_slab_release, of what need not be all of a slab.
static inline KMA_COLD void kma_slab_release_anyhow(global kma_slab *heap, global void *ptr)
{
    KMA_CALL_ITSELF(heap, kma_slab_release_anyhow(heap, ptr));
    kma_sl_spot at = kma_sl_spot_of(heap, ptr);
    const uint mine = at.error == KMA_ERROR_CODES ? 1u << at.slot : 0;
    uint given = 0;
    bool alone = mine != 0;
    const kma_lanes group = kma_lanes_alike(kma_lanes_active(), (ulong)heap);
    if (kma_lane_in(group)) { // else it is of another heap than the leader's
        const uint slab = mine != 0 ? kma_sl_freed_as(at.first, at.mark) : KMA_SL_NONE;
        const kma_lanes together = kma_lanes_match(group, slab, 32);
        const uint slots = kma_lanes_or(group, together, mine);
        kma_lanes_sync(group); // a leader's release stands for all who free with it
        alone = mine != 0 && (uint)popcount(slots) != kma_lanes_count(together); // two free one block: each for himself
        if (mine != 0 && !alone && kma_lane_leads(together))
            given = kma_sl_release(heap, at, slots);
        given = kma_lanes_shuffle(group, given, kma_lowest_bit(together));
    }
    if (alone)
        given = kma_sl_release(heap, at, mine);
    if (mine != 0 && (given & mine) == 0)
        at.error = KMA_ERROR_DOUBLE_FREE;
    if (at.error != KMA_ERROR_CODES)
        kma_report(&heap->header, at.error, kma_wrong_ref(&heap->header, ptr), 0);
}

// Takes back what the heap gave at `ptr`, the start of a block. A record if it is none, or free already.
static inline void kma_slab_release(global kma_slab *heap, global void *ptr)
{
#if KMA_SHORT_PATHS || KMA_LONE_PATHS
    const kma_lanes active = kma_lanes_active();
#endif
#if KMA_SHORT_PATHS
    if (active == KMA_LANES_ALL && kma_lanes_alike(KMA_LANES_ALL, (ulong)heap) == KMA_LANES_ALL &&
        kma_sl_end_together(heap, ptr))
        return;
#endif
#if KMA_LONE_PATHS
    if (kma_lanes_count(active) == 1 && kma_sl_release_one(heap, ptr))
        return;
#endif
    kma_slab_release_anyhow(heap, ptr);
}

#endif
