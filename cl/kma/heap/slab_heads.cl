// Blocks for lanes that come alone, or in groups too small for a slab of their own: from slabs that they share.
//
// For each place of execution and class a head names a slab with free slots. Who wants blocks reads the head, the slab's
// owners, and sets bits in these by compare-and-swap: one atomic. When no slot is left, who sees it takes the slab off its
// head, and who finds no slab there makes one.
//
// A head owns slot 0 of its slab. So the slab lives while it is there, whether or not its blocks are free: one block that
// is taken and freed again and again does not make and end a slab each time. Who takes the slab off gets that slot.
//
// Between reading owners and setting bits the slab may be taken off, end, and its line's word become anything.
//   - It is never data: of these bit 31 is set, and here owners are changed only while it is not. (Slot 31 is the last one
//     to be taken. A slab whose slot 31 is taken while others are free is taken off; its holes are in their tree.)
//   - It may be another slab's owners. So who set the bits looks at the head again. Whoever makes a slab whose owners are no
//     data releases these, and comes after the end of the slab before, and that after it was taken off; who set bits acquires:
//     so if they are another slab's, he sees that the head has changed. (Or it names that line once more, for another slab;
//     that is of the right class all the same, and the bits are in its owners.) Whom the head still names the old slab, though
//     it was just taken off, has a slot of a slab that lives, as if he had been there before.
//     If it has changed, he clears the bits again, and begins anew. If the slab that they are of has free slots, it is marked
//     HOLEY since before its owners were released, so that he sees it, and lists them: others may have missed them. If it has
//     none, it is one that lanes took together; those free it piecemeal then, since its owners are not just theirs.
//
// A work-item stopped for ever in here costs its request, and a slab or a slot.
#ifndef KMA_HEAP_SLAB_HEADS_CL
#define KMA_HEAP_SLAB_HEADS_CL

#include "kma/platform/lanes.cl"
#include "kma/platform/place.cl"
#include "kma/heap/slab_gaps.cl"
#include "kma/heap/slab_holes.cl"

// How often who got nothing, because others changed what he had read, begins anew.
#ifndef KMA_SL_HEAD_TRIES
#define KMA_SL_HEAD_TRIES 16u
#endif

static inline global kma_atomic_u32 *kma_sl_head(const kma_sl_heap *sl, uint place, uint size_class)
{
    return kma_sl_at(sl->heap, sl->plan.heads) + (place & (sl->plan.places - 1)) * KMA_SL_CLASSES + size_class;
}

// The lowest `count` bits of `bits`, or all if there are fewer.
static inline uint kma_sl_lowest(uint bits, uint count)
{
    uint rest = bits;
    for (; count != 0 && rest != 0; count--) // one bit each time
        rest &= rest - 1;
    return bits & ~rest;
}

// Takes a slab off its head, if it is still there: slot 0 is the caller's then.
static inline bool kma_sl_behead(global kma_slab *heap, global kma_atomic_u32 *head, uint seen)
{
    if (kma_cas_u32(head, seen, 0, KMA_ACQUIRE) != seen)
        return false;
    kma_fetch_add_u32(&heap->headed, ~0u, KMA_RELAXED);
    return true;
}

// Makes a slab of lines of the caller's own, with `taken` of its `slots`.
static inline void kma_sl_make(const kma_sl_heap *sl, uint first, uint lines, uint units, uint slots, uint taken)
{
    if (units != 1) {
        kma_sl_make_equal(sl, first, lines, kma_sl_equal_header(units, slots), taken);
        return;
    }
    kma_sl_put_holey(sl, first, KMA_SL_MARK_FINE, taken);
}

// Puts a new slab of a class, of lines of the caller's own, at a head that had none: up to `count` slots of it.
static inline KMA_COLD uint kma_sl_open_head(global kma_slab *heap, uint place, uint size_class, uint first, uint count)
{
    const kma_sl_heap sl = kma_sl_open(heap);
    const kma_sl_size size = heap->sizes[size_class];
    const uint mine = kma_sl_lowest(kma_sl_all_slots(size.slots) & ~1u, count);
    kma_sl_make(&sl, first, size.lines, size.units, size.slots, mine | 1u);
    kma_fetch_add_u32(&heap->headed, 1, KMA_RELAXED);
    if (kma_cas_u32(kma_sl_head(&sl, place, size_class), 0, first + 1, KMA_RELEASE) != 0) {
        kma_fetch_add_u32(&heap->headed, ~0u, KMA_RELAXED);
        kma_sl_let_go(heap, first, 1u, true); // another has put one there: this one's slots are holes
    }
    return mine;
}

// A slab was taken off its head: its free slots are holes. Slot 0 is the caller's.
static inline KMA_COLD void kma_sl_list_spare(global kma_slab *heap, uint first)
{
    const kma_sl_heap sl = kma_sl_open(heap);
    const uint mark = kma_sl_mark(&sl, first);
    const kma_sl_form form = kma_sl_form_of(&sl, first, mark);
    const uint spare = form.slots & ~kma_load_u32(kma_sl_word(&sl, first), KMA_RELAXED);
    if (spare == 0)
        return;
    kma_sl_list_holes(heap, &form, first, spare);
}

// Slots of one slab.
typedef struct kma_sl_from {
    uint first; // line
    uint slots; // 0: none
} kma_sl_from;

// Clears bits that the caller set in the owners of whatever slab begins at a line now.
static inline KMA_COLD void kma_sl_undo(global kma_slab *heap, uint first, uint bits)
{
    const kma_sl_heap sl = kma_sl_open(heap);
    // Until the bits are cleared the slab lives, and what tells of it stays.
    const uint mark = kma_load_u32(kma_sl_marks(&sl, first), KMA_ACQUIRE) >> kma_sl_mark_shift(first) & 15u;
    kma_sl_form form = kma_sl_form_with(0, 0);
    form.slots = 0;
    if ((mark & KMA_SL_MARK_HOLEY) != 0) // else it had no free slot when they were set
        form = kma_sl_form_of(&sl, first, mark);
    const uint before = kma_fetch_and_u32(kma_sl_word(&sl, first), ~bits, KMA_ACQ_REL);
    if ((before & ~bits) == 0)
        kma_sl_close(heap, first);
    else if ((bits & form.slots) != 0)
        kma_sl_list_holes(heap, &form, first, bits & form.slots);
}

// Up to `count` slots of the slab at a head, `seen`; none if others changed it meanwhile. If it has none, it is taken off, and
// slot 0 is the caller's.
static inline KMA_COLD uint kma_sl_share_head(global kma_slab *heap, global kma_atomic_u32 *head, uint seen, uint all_slots,
                                              uint count)
{
    const kma_sl_heap sl = kma_sl_open(heap);
    const uint first = seen - 1;
    global kma_atomic_u32 *const word = kma_sl_word(&sl, first);
    const uint owners = kma_load_u32(word, KMA_RELAXED);
    const uint last = all_slots & KMA_SL_DATA; // slot 31, if there is one
    uint spare = all_slots & ~owners & ~last;
    if (spare == 0 && (owners & KMA_SL_DATA) == 0)
        spare = last;
    if (owners == 0 || (owners & KMA_SL_DATA) != 0 || spare == 0) {
        if (!kma_sl_behead(heap, head, seen))
            return 0;
        if ((all_slots & ~kma_load_u32(word, KMA_RELAXED)) != 0)
            kma_sl_list_spare(heap, first);
        return 1u;
    }
    const uint mine = kma_sl_lowest(spare, count);
    if (kma_cas_u32(word, owners, owners | mine, KMA_ACQUIRE) != owners)
        return 0;
    if (kma_load_u32(head, KMA_RELAXED) == seen)
        return mine;
    kma_sl_undo(heap, first, mine);
    return 0;
}

// Up to `count` blocks of a class from the head of the caller's place, or if it has no slab, and `anew` or there are no holes,
// from a new one, which it gets. None if there are no lines near by, or others were quicker time and again.
static inline KMA_COLD kma_sl_from kma_sl_from_head(global kma_slab *heap, uint size_class, uint count, bool anew)
{
    kma_sl_from from;
    from.first = from.slots = 0;
    KMA_CALL_ITSELF(heap, from = kma_sl_from_head(heap, size_class, count, anew));
    const kma_sl_heap sl = kma_sl_open(heap);
    global kma_atomic_u32 *const head = kma_sl_head(&sl, kma_place(), size_class);
    const uint all_slots = kma_sl_all_slots(heap->sizes[size_class].slots);
    for (uint tries = KMA_SL_HEAD_TRIES; tries != 0 && from.slots == 0; tries--) {
        const uint seen = kma_load_u32(head, KMA_ACQUIRE);
        if (seen == 0)
            break;
        from.first = seen - 1;
        from.slots = kma_sl_share_head(heap, head, seen, all_slots, count);
    }
    if (from.slots != 0 || (!anew && kma_sl_has_holes_for(&sl, size_class)))
        return from;
    const uint lines = heap->sizes[size_class].lines;
    from.first = kma_sl_look(heap, lines, lines).first;
    if (from.first != KMA_SL_NONE)
        from.slots = kma_sl_open_head(heap, kma_place(), size_class, from.first, count);
    return from;
}

#if KMA_LONE_PATHS
// A block of `bytes` for a lane alone, from the head of its place, if that has a slab with free slots besides 31 and there are no
// holes, and nobody comes between; else KMA_NULL. Steps that wait for one another: the plan; the head; its slab's owners; a
// slot; and the head again.
static inline KMA_COLD kma_ref kma_sl_take_one(global kma_slab *heap, size_t bytes)
{
    kma_ref block = KMA_NULL;
    KMA_CALL_ITSELF(heap, block = kma_sl_take_one(heap, bytes));
    const kma_sl_heap sl = kma_sl_open(heap);
    if (bytes == 0 || bytes > KMA_SL_MOST_MIXED * KMA_UNIT || sl.plan.chunks == 0) // without lines there are no heads
        return block;
    const uint size_class = kma_sl_class_of((uint)kma_whole_units(bytes));
    const kma_sl_size size = heap->sizes[size_class];
    global kma_atomic_u32 *const head = kma_sl_head(&sl, kma_place(), size_class);
    const bool has_holes = kma_sl_has_holes_for(&sl, size_class);
    const uint seen = kma_load_u32(head, KMA_ACQUIRE);
    if (seen == 0 || has_holes)
        return block;
    global kma_atomic_u32 *const word = kma_sl_word(&sl, seen - 1);
    const uint owners = kma_load_u32(word, KMA_RELAXED);
    const uint spare = kma_sl_all_slots(size.slots) & ~owners & ~KMA_SL_DATA;
    const uint mine = spare & (0 - spare);
    if (owners == 0 || (owners & KMA_SL_DATA) != 0 || mine == 0 ||
        kma_cas_u32(word, owners, owners | mine, KMA_ACQUIRE) != owners)
        return block;
    if (kma_load_u32(head, KMA_RELAXED) == seen)
        block = sl.plan.begin + (seen - 1) * KMA_SL_LINE + kma_sl_first_bit(mine) * size.units;
    else
        kma_sl_undo(heap, seen - 1, mine);
    return block;
}
#endif

// Takes slabs off their heads: those that nobody else uses, so that they end; or all, so that the free slots of the others are
// holes.
static inline KMA_COLD void kma_sl_take_off(global kma_slab *heap, bool idle_ones)
{
    const kma_sl_heap sl = kma_sl_open(heap);
    if (kma_load_u32(&heap->headed, KMA_RELAXED) == 0)
        return;
    for (uint i = 0; i < sl.plan.places * KMA_SL_CLASSES; i++) {
        global kma_atomic_u32 *const head = kma_sl_at(heap, sl.plan.heads) + i;
        const uint seen = kma_load_u32(head, KMA_RELAXED);
        if (seen != 0 && (!idle_ones || kma_load_u32(kma_sl_word(&sl, seen - 1), KMA_RELAXED) == 1) &&
            kma_sl_behead(heap, head, seen))
            kma_sl_let_go(heap, seen - 1, 1u, true); // slot 0; others may have come meanwhile
    }
}

// A block of a class, which those who come together with the caller get from one head, if kma_sl_from_head has some; else
// KMA_NULL.
static inline KMA_COLD kma_ref kma_sl_take_shared(global kma_slab *heap, uint size_class)
{
    kma_ref block = KMA_NULL;
    KMA_CALL_ITSELF(heap, block = kma_sl_take_shared(heap, size_class));
    const kma_lanes group = kma_lanes_alike(kma_lanes_active(), (ulong)heap);
    if (!kma_lane_in(group)) // of another heap than the leader's
        return block;
    const kma_lanes alike = kma_lanes_match(group, size_class, 6);
    bool waits = true;
    for (;;) { // no more rounds than lanes: in each, one lane of each class leaves at least
        const kma_lanes all_waiting = kma_lanes_ballot(group, waits);
        if (all_waiting == 0)
            break;
        const kma_lanes waiting = waits ? all_waiting & alike : (kma_lanes)1 << kma_lane_id(); // else I alone
        const uint rank = kma_lane_rank(waiting);
        kma_sl_from from;
        from.first = from.slots = 0;
        if (waits && rank == 0)
            from = kma_sl_from_head(heap, size_class, kma_lanes_count(waiting), false);
        from.first = kma_lanes_shuffle(group, from.first, kma_lowest_bit(waiting));
        from.slots = kma_lanes_shuffle(group, from.slots, kma_lowest_bit(waiting));
        kma_lanes_sync(group); // what the leader acquired, all need
        const uint mine = from.slots & ~kma_sl_lowest(from.slots, rank);
        if (waits && mine != 0)
            block = heap->plan.begin + from.first * KMA_SL_LINE + kma_sl_first_bit(mine) * kma_sl_units(size_class);
        waits = waits && from.slots != 0 && mine == 0;
    }
    return block;
}

#endif
