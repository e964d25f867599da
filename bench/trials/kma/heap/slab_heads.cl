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
//   - It may be another slab's owners. So who set the bits looks at the head again: if that still names the slab, it did
//     all the time, for no slab can be taken off and come back while somebody has a slot of it. (It can: taken off, and
//     by another put at that same head, if it ended meanwhile. Then it is of the right class all the same.) If it does
//     not, he gives back what he got, and begins anew.
//
// A work-item stopped for ever in here costs its request, and a slab or a slot.
#ifndef KMA_HEAP_SLAB_HEADS_CL
#define KMA_HEAP_SLAB_HEADS_CL

#include "kma/platform/lanes.cl"
#include "kma/platform/place.cl"
#include "kma/heap/slab_holes.cl"

// How often who got nothing, because others changed what he had read, begins anew.
#ifndef KMA_SL_TRIES
#define KMA_SL_TRIES 16u
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

// Makes a slab of lines of the caller's own, with `taken` of its `slots`.
static inline void kma_sl_make(const kma_sl_heap *sl, uint first, uint lines, uint units, uint slots, uint taken)
{
    if (units != 1) {
        kma_sl_make_equal(sl, first, lines, kma_sl_equal_header(units, slots), taken);
        return;
    }
    kma_store_u32(kma_sl_word(sl, first), taken, KMA_RELAXED);
    kma_sl_put_mark(sl, first, KMA_SL_MARK_FINE);
}

// Puts a new slab of a class, of lines of the caller's own, at a head that had none: up to `count` slots of it.
static inline KMA_COLD uint kma_sl_open_head(global kma_slab *heap, uint place, uint size_class, uint first, uint count)
{
    const kma_sl_heap sl = kma_sl_open(heap);
    const kma_sl_size size = heap->sizes[size_class];
    const uint mine = kma_sl_lowest(kma_sl_all_slots(size.slots) & ~1u, count);
    kma_sl_make(&sl, first, size.lines, size.units, size.slots, mine | 1u);
    if (kma_cas_u32(kma_sl_head(&sl, place, size_class), 0, first + 1, KMA_RELEASE) != 0)
        kma_sl_let_go(heap, first, 1u, true); // another has put one there: this one's slots are holes
    return mine;
}

// A slab was taken off its head: its free slots are holes. Slot 0 is the caller's.
static inline KMA_COLD void kma_sl_list_spare(global kma_slab *heap, uint first)
{
    const kma_sl_heap sl = kma_sl_open(heap);
    const uint mark = kma_sl_mark(&sl, first);
    const kma_sl_form form = kma_sl_form_of(&sl, first, mark);
    const uint spare = form.all & ~kma_load_u32(kma_sl_word(&sl, first), KMA_RELAXED);
    if (spare == 0)
        return;
    kma_sl_make_holey(&sl, first, mark);
    kma_sl_list_holes(heap, &form, first, spare);
}

// Slots of one slab from a head, and what must be done for that where no other lanes wait.
typedef struct kma_sl_from {
    uint first; // line
    uint slots; // 0: none
    uint undo;  // they are of another slab: to be given back
    bool spare; // the slab was taken off with free slots
} kma_sl_from;

// Up to `count` slots of the slab at a head, `seen`. If it has none, it is taken off, and slot 0 is the caller's.
static inline kma_sl_from kma_sl_share_head(const kma_sl_heap *sl, global kma_atomic_u32 *head, uint seen, uint all,
                                            uint count)
{
    kma_sl_from from;
    from.first = seen - 1;
    from.slots = from.undo = 0;
    from.spare = false;
    global kma_atomic_u32 *const word = kma_sl_word(sl, from.first);
    const uint owners = kma_load_u32(word, KMA_RELAXED);
    const uint last = all & KMA_SL_DATA; // slot 31, if there is one
    uint spare = all & ~owners & ~last;
    if (spare == 0 && (owners & KMA_SL_DATA) == 0)
        spare = last;
    if (owners == 0 || (owners & KMA_SL_DATA) != 0 || spare == 0) {
        if (kma_cas_u32(head, seen, 0, KMA_ACQUIRE) == seen) {
            from.slots = 1u;
            from.spare = (all & ~kma_load_u32(word, KMA_RELAXED)) != 0;
        }
        return from;
    }
    const uint mine = kma_sl_lowest(spare, count);
    if (kma_cas_u32(word, owners, owners | mine, KMA_ACQUIRE) != owners)
        return from;
    if (kma_load_u32(head, KMA_RELAXED) == seen)
        from.slots = mine;
    else
        from.undo = mine;
    return from;
}

// Up to `count` blocks of a class from a head; none if it has no slab, or others were quicker time and again.
static inline kma_sl_from kma_sl_from_head(const kma_sl_heap *sl, global kma_atomic_u32 *head, uint slots, uint count)
{
    kma_sl_from from;
    from.first = from.slots = from.undo = 0;
    from.spare = false;
    for (uint tries = KMA_SL_TRIES; tries != 0 && from.slots == 0 && from.undo == 0; tries--) {
        const uint seen = kma_load_u32(head, KMA_ACQUIRE);
        if (seen == 0)
            break;
        from = kma_sl_share_head(sl, head, seen, kma_sl_all_slots(slots), count);
    }
    return from;
}

// Does what was left.
static inline KMA_COLD void kma_sl_settle(global kma_slab *heap, uint first, uint undo)
{
    if (undo != 0)
        kma_sl_let_go(heap, first, undo, false);
    else
        kma_sl_list_spare(heap, first);
}

// A block of a class from any head of it: slot 0 of the slab there, which is taken off. KMA_NULL if none has a slab.
static inline KMA_COLD kma_ref kma_sl_take_off(global kma_slab *heap, uint size_class)
{
    global kma_atomic_u32 *const heads = kma_sl_at(heap, heap->plan.heads) + size_class;
    for (uint place = 0; place < heap->plan.places; place++) {
        const uint seen = kma_load_u32(&heads[place * KMA_SL_CLASSES], KMA_ACQUIRE);
        if (seen != 0 && kma_cas_u32(&heads[place * KMA_SL_CLASSES], seen, 0, KMA_ACQUIRE) == seen) {
            kma_sl_list_spare(heap, seen - 1);
            return heap->plan.begin + (seen - 1) * KMA_SL_LINE; // slot 0
        }
    }
    return KMA_NULL;
}

// The same of all classes, to give back the lines of those slabs that nobody uses.
static inline void kma_sl_take_off_all(kma_sl_search *search)
{
    for (search->size_class = 0; search->size_class < KMA_SL_CLASSES;) { // a class, or a slab at a head, each time
        search->line = kma_sl_take_off(search->heap, search->size_class);
        if (search->line != KMA_NULL)
            kma_sl_let_go(search->heap, (search->line - search->heap->plan.begin) >> KMA_SL_LINE_SHIFT, 1u, false);
        else
            search->size_class++;
    }
}

// For each lane of the group a block of its class (KMA_SL_CLASSES: it wants none); KMA_NULL if its head has no slab.
// `block` is what a lane that wants none has.
static inline kma_ref kma_sl_take_shared(const kma_sl_heap *sl, kma_lanes group, uint size_class, kma_ref block)
{
    const uint place = kma_place();
    const kma_lanes alike = kma_lanes_match(group, size_class, 6);
    bool waits = size_class < KMA_SL_CLASSES;
    uint late = KMA_SL_NONE; // of this slab something is to be done
    uint undo = 0;
    for (;;) { // no more rounds than lanes: in each, one lane of each class leaves at least
        const kma_lanes all_waiting = kma_lanes_ballot(group, waits);
        if (all_waiting == 0)
            break;
        const kma_lanes waiting = waits ? all_waiting & alike : (kma_lanes)1 << kma_lane_id(); // else I alone
        const uint rank = kma_lane_rank(waiting);
        uint first = 0;
        uint slots = 0;
        if (waits && rank == 0) {
            const kma_sl_from from = kma_sl_from_head(sl, kma_sl_head(sl, place, size_class),
                                                      sl->heap->sizes[size_class].slots, kma_lanes_count(waiting));
            first = from.first;
            slots = from.slots;
            undo = from.undo;
            late = undo != 0 || from.spare ? first : late;
        }
        first = kma_lanes_shuffle(group, first, kma_sl_first_bit(waiting));
        slots = kma_lanes_shuffle(group, slots, kma_sl_first_bit(waiting));
        kma_lanes_sync(group); // what the leader acquired, all need
        const uint mine = slots & ~kma_sl_lowest(slots, rank);
        if (waits && mine != 0)
            block = sl->plan.begin + first * KMA_SL_LINE + kma_sl_first_bit(mine) * kma_sl_units(size_class);
        waits = waits && slots != 0 && mine == 0;
    }
    if (late != KMA_SL_NONE)
        kma_sl_settle(sl->heap, late, undo);
    return block;
}

#endif
