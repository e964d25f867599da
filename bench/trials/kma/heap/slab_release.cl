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

// The slot that begins `within` units behind the start of a slab whose sizes planes tell; KMA_SL_NONE if none does.
static inline uint kma_sl_slot_by_planes(const kma_sl_heap *sl, kma_sl_spot *at, uint within)
{
    const kma_sl_form form = kma_sl_form_of(sl, at->first, at->mark);
    at->slots = form.all;
    at->lines = form.lines;
    uint slot = kma_lane_id() % KMA_SL_SLOTS; // who took it often is who frees it
    if (kma_sl_offset(&form, slot) == within && (form.all >> slot & 1u) != 0)
        return slot;
    slot = 0; // the last one that begins there or before: of those of no size the one behind them
    for (uint step = KMA_SL_SLOTS / 2; step != 0; step /= 2)
        if (kma_sl_offset(&form, slot + step) <= within)
            slot += step;
    while (slot != 0 && (form.all >> slot & 1u) == 0) // behind the last slot that there is: back to it
        slot--;
    return kma_sl_offset(&form, slot) == within && (form.all >> slot & 1u) != 0 ? slot : KMA_SL_NONE;
}

// Which slot of a slab begins `within` units behind its start. Equal slots, which most slabs have, need one word.
static inline void kma_sl_find_slot(const kma_sl_heap *sl, kma_sl_spot *at, uint within)
{
    at->units = at->lines = 1;
    at->slots = 0xffffffffu;
    at->slot = within;
    uint form = at->mark & KMA_SL_MARK_FORM;
    if (form == KMA_SL_MARK_HEADER) {
        const uint header = kma_load_u32(kma_sl_word(sl, at->first + 1), KMA_RELAXED);
        const uint value = header & KMA_SL_VALUE;
        if ((header & (KMA_SL_RUN | KMA_SL_MIXED)) == 0) {
            at->units = value >> 6;
            at->lines = kma_sl_lines_for(at->units, value & 63u);
            at->slots = kma_sl_all_slots(value & 63u);
            at->slot = within / at->units;
        } else if ((header & KMA_SL_RUN) != 0) {
            at->lines = value;
            at->units = value << KMA_SL_LINE_SHIFT;
            at->slots = 1u;
            at->slot = within == 0 ? 0 : KMA_SL_NONE;
        } else {
            form = KMA_SL_MARK_SMALL;
        }
    }
    if (form == KMA_SL_MARK_SMALL) {
        at->units = 0;
        at->slot = kma_sl_slot_by_planes(sl, at, within);
    } else if (at->slot * at->units != within || at->slot >= KMA_SL_SLOTS || (at->slots >> at->slot & 1u) == 0) {
        at->slot = KMA_SL_NONE;
    }
}

static inline kma_sl_spot kma_sl_spot_of(const kma_sl_heap *sl, global void *ptr)
{
    kma_sl_spot at;
    at.first = at.slot = at.units = at.slots = at.lines = at.mark = 0;
    at.error = KMA_ERROR_INVALID_FREE;
    const size_t offset = (size_t)ptr - (size_t)sl->heap; // of a pointer below the heap: huge
    const size_t place = offset / KMA_UNIT;
    if (offset % KMA_UNIT != 0 || place < sl->plan.begin || place >= sl->plan.limit)
        return at;
    const uint unit = (uint)place - sl->plan.begin;
    const uint line = unit >> KMA_SL_LINE_SHIFT;
    at.first = kma_sl_first_of(sl, line, &at.mark);
    at.error = KMA_ERROR_DOUBLE_FREE; // if no slab is there: there may have been one
    if (at.first == KMA_SL_NONE)
        return at;
    kma_sl_find_slot(sl, &at, unit - at.first * KMA_SL_LINE);
    if (at.slot != KMA_SL_NONE)
        at.error = KMA_ERROR_CODES;
    else if (line - at.first < at.lines)
        at.error = KMA_ERROR_INVALID_FREE;
    return at;
}

// Clears `slots` of a slab, one of which is the caller's, and not all that it ever had at once; returns those that were
// set. If they were the last, the slab ends.
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
    return mine;
}

// Clears `slots` of a slab, of which at least one is the caller's; returns those that were set.
static inline uint kma_sl_release(const kma_sl_heap *sl, kma_sl_spot at, uint slots)
{
    if (slots != at.slots || (at.mark & KMA_SL_MARK_HOLEY) != 0)
        return kma_sl_release_some(sl->heap, at.first, slots);
    kma_fence(KMA_RELEASE); // before all that follows: the owners, and the lines
    const uint mine = kma_fetch_and_u32(kma_sl_word(sl, at.first), ~slots, KMA_RELAXED) & slots;
    if (mine != slots) { // others freed some of these, wrongly
        kma_fence(KMA_ACQUIRE);
        if (mine != 0)
            kma_sl_close(sl->heap, at.first);
        return mine;
    }
    kma_sl_unmark(sl, at.first);
    kma_sl_give(sl, at.first, at.lines);
    return mine;
}

// Takes back what the heap gave at `ptr`, the start of a block. A record if it is none, or free already.
static inline void kma_slab_release(global kma_slab *heap, global void *ptr)
{
    const kma_sl_heap sl = kma_sl_open(heap);
    kma_sl_spot at = kma_sl_spot_of(&sl, ptr);
    const bool is_start = at.error == KMA_ERROR_CODES;
    const uint bit = is_start ? 1u << at.slot : 0;
    uint given = 0;
    const kma_lanes group = kma_lanes_alike(kma_lanes_active(), (ulong)heap);
    if (kma_lane_in(group)) {
        const kma_lanes together = kma_lanes_match(group, is_start ? at.first : KMA_SL_NONE, 32);
        const uint bits = kma_lanes_or(group, together, bit);
        kma_lanes_sync(group); // a leader's release stands for all who free with it
        const bool clash = (uint)popcount(bits) != kma_lanes_count(together); // two free one block: each for himself
        if (is_start && (clash || kma_lane_leads(together)))
            given = kma_sl_release(&sl, at, clash ? bit : bits);
        given = kma_lanes_shuffle(group, given, clash ? kma_lane_id() : kma_lowest_bit(together));
    } else if (is_start) {
        given = kma_sl_release(&sl, at, bit);
    }
    if (is_start && (given & bit) == 0)
        at.error = KMA_ERROR_DOUBLE_FREE;
    if (at.error != KMA_ERROR_CODES)
        kma_report(&heap->header, at.error, kma_wrong_ref(&heap->header, ptr), 0);
}

#endif
