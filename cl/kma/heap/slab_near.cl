// The short path of lanes alone, or a few that come together, to what a head of their place has (slab_heads.cl): for KMA_LONE_PATHS.
#ifndef KMA_HEAP_SLAB_NEAR_CL
#define KMA_HEAP_SLAB_NEAR_CL

#include "kma/heap/slab_heads.cl"

#if KMA_LONE_PATHS
// With so many places work-items alone make slabs for heads rather than fill holes, where a cursor leads to free lines.
#ifndef KMA_SL_AMPLE_PLACES
#define KMA_SL_AMPLE_PLACES KMA_SL_MANY_PLACES
#endif
#define KMA_SL_FEW_TRIES 3u // of a few the first ones may get the last slots of a slab, and the others those of the next

// `many` slots of a new slab of a small class, which a head gets that is BUSY; none if the cursor leads to no lines.
static inline KMA_COLD kma_sl_from kma_sl_renew(global kma_slab *heap, global kma_atomic_u32 *head, uint size_class, uint many)
{
    const kma_sl_size size = kma_sl_size_of(size_class); // sooner than it is loaded
    kma_sl_from from;
    from.units = size.units;
    from.unit = from.slots = 0;
    const uint first = kma_sl_draw_for_head(heap, size.lines);
    if (first == KMA_SL_NONE)
        return from;
    const kma_sl_heap sl = kma_sl_open(heap);
    from.unit = first * KMA_SL_LINE;
    from.slots = kma_sl_lowest(kma_sl_all_slots(size.slots) & ~1u, many);
    kma_sl_make(&sl, first, size.lines, size.units, size.slots, from.slots | 1u);
    if (!kma_sl_put_head(heap, head, kma_sl_head_of(first, 0), size_class))
        kma_sl_let_go(heap, first, 1u, true);
    return from;
}

// Up to `many` slots of a small class from the head of the caller's place, or from another one; the first that has no slab gets one.
// If all are BUSY, the last one gets that of the caller. None if others were quicker there, or the cursor leads to no lines.
static inline KMA_COLD kma_sl_from kma_sl_take_near(global kma_slab *heap, uint size_class, uint many)
{
    const kma_sl_heap sl = kma_sl_open(heap);
    kma_sl_from from;
    from.unit = from.units = from.slots = 0;
    KMA_IN_MEMORY uint place = kma_near_place();
    for (KMA_IN_MEMORY uint tries = KMA_SL_HEADS; tries != 0; tries--) {
        global kma_atomic_u32 *const head = kma_sl_head(&sl, place, size_class);
        from = kma_sl_from_head(heap, head, size_class, many);
        if (from.slots != 0)
            return from;
        KMA_IN_MEMORY const bool mine = kma_sl_is_mine(head);
        if (mine || (tries == 1 && kma_load_u32(head, KMA_RELAXED) == KMA_SL_HEAD_BUSY))
            from = kma_sl_renew(heap, head, size_class, many);
        if (mine && from.slots == 0)
            kma_cas_u32(head, KMA_SL_HEAD_BUSY, 0, KMA_RELAXED);
        if (mine || from.slots != 0)
            return from;
        place = kma_sl_other_place(tries);
    }
    return from;
}

// Up to `many` slots of a class from the head of the caller's place, if that has a slab with free ones, and a large one should not
// fill a hole; small ones from other heads, too. Steps that wait for one another: the plan; the head; its slab's owners; slots;
// and the head again.
static inline kma_sl_from kma_sl_take_slots(const kma_sl_heap *sl, uint size_class, uint many)
{
    global kma_atomic_u32 *const head = kma_sl_head(sl, kma_near_place(), size_class);
    const bool holes_first = size_class >= KMA_SL_SMALL_CLASSES && kma_sl_has_holes_for(sl, size_class);
    const uint seen = kma_load_u32(head, KMA_RELAXED);
    uint slots = KMA_SL_NO_SLOTS;
    if (kma_sl_head_has_slab(seen) && !holes_first)
        slots = kma_sl_claim_slots(sl, head, seen, size_class, many);
    kma_sl_from from;
    from.unit = kma_sl_head_line(seen) * KMA_SL_LINE;
    from.units = kma_sl_units(size_class);
    from.slots = slots != KMA_SL_NONE_LEFT ? slots : kma_sl_take_own(sl->heap, head, seen, size_class);
    if (from.slots == 0 && size_class < KMA_SL_SMALL_CLASSES && sl->plan.places >= KMA_SL_AMPLE_PLACES &&
        !kma_sl_is_scarce(sl->heap, kma_sl_units(size_class))) // its slabs are shorter than so many lines
        from = kma_sl_take_near(sl->heap, size_class, many);
    return from;
}

// The class of a block of so many bytes; KMA_SL_CLASSES: there are no heads for it, as without lines there are none.
static inline uint kma_sl_class_for(const kma_sl_heap *sl, size_t bytes)
{
    const bool has_class = bytes != 0 && bytes <= KMA_SL_MOST_MIXED * KMA_UNIT && sl->plan.chunks != 0;
    return has_class ? kma_sl_class_of((uint)kma_whole_units(bytes)) : KMA_SL_CLASSES;
}

// A block of `bytes` for a lane alone from the head of its place; KMA_NULL if it gets none there.
static inline KMA_COLD kma_ref kma_sl_take_one(global kma_slab *heap, size_t bytes)
{
    kma_ref block = KMA_NULL;
    const kma_sl_heap sl = kma_sl_open(heap);
    const uint size_class = kma_sl_class_for(&sl, bytes);
    if (size_class != KMA_SL_CLASSES)
        block = kma_sl_block_of(sl.plan.begin, kma_sl_take_slots(&sl, size_class, 1), 0);
    return block;
}

// The same for a group too small for a slab of its own: those who want the same class as the first of them get what its head has.
static inline kma_ref kma_sl_take_few_once(global kma_slab *heap, size_t bytes)
{
    kma_ref block = KMA_NULL;
    const kma_lanes group = kma_lanes_alike(kma_lanes_active(), (ulong)heap);
    if (!kma_lane_in(group)) // of another heap than the leader's
        return block;
    const kma_sl_heap sl = kma_sl_open(heap);
    const uint size_class = kma_sl_class_for(&sl, bytes);
    const kma_lanes alike = kma_lanes_ballot(group, size_class == kma_lanes_first(group, size_class));
    kma_sl_from from;
    from.unit = from.units = from.slots = 0;
    if (kma_lane_leads(group) && size_class != KMA_SL_CLASSES && kma_sl_shares(kma_sl_units(size_class), kma_lanes_count(alike)))
        from = kma_sl_take_slots(&sl, size_class, kma_lanes_count(alike));
    from.unit = kma_lanes_first(group, from.unit);
    from.units = kma_lanes_first(group, from.units);
    from.slots = kma_lanes_first(group, from.slots);
    kma_lanes_sync(group); // what the leader acquired, all need
    return kma_lane_in(alike) ? kma_sl_block_of(sl.plan.begin, from, kma_lane_rank(alike)) : block;
}

// The same, and of small blocks once more for those who got none. Each time asks anew who is there.
static inline KMA_COLD kma_ref kma_sl_take_few(global kma_slab *heap, size_t bytes)
{
    KMA_IN_MEMORY kma_ref block = KMA_NULL;
    const bool is_small = bytes <= KMA_SL_SMALL_CLASSES * KMA_UNIT;
    for (KMA_IN_MEMORY uint tries = is_small ? KMA_SL_FEW_TRIES : 1; tries != 0 && block == KMA_NULL; tries--)
        block = kma_sl_take_few_once(heap, bytes);
    return block;
}
#endif

#endif
