// Blocks for lanes that come alone, or in groups too small for a slab of their own: from slabs that they share.
//
// For each place of execution and class a head names a slab with free slots. Who wants blocks reads the head, the slab's
// owners, and sets bits in these by compare-and-swap: one atomic. Who gets fewer than he wants, as no more are left, takes the
// slab off its head. Who finds no slab there says that he gets one, and then puts it there: a new one, of lines that a cursor
// tells, for small blocks as long as these are free, which they are until it has gone round the heap; else one with holes if
// he wants few blocks and there is such a one soon. So holes are looked for once for all the slots of a slab.
//
//   head    0 ------- who wants blocks -------> BUSY ----- a slab with free slots, or none was found -----> slab, or 0
//           ^                                                                                                 |
//           +---------------------- no slot is left: the head's own is who sees it's -------------------------+
//
// Nobody waits for who is at it: the others go to heads of other places, as do those who were not quick enough at theirs a few
// times. Who meets a last one that is BUSY, in a heap with many heads, makes a slab for that; so BUSY is a hint: it may be
// another's by the time when one has a slab, or there may be one, and then the free slots of his are holes (kma_sl_put_head). In a
// heap with few heads, where such slabs could take all the lines, he tries longer, and makes one just for himself, or if the
// cursor leads to lines of others fills a hole, if one is soon found; so one whose head stays BUSY, since a CPU's scheduler
// stopped who was at it, costs a slab per 32 blocks and not one for each, once lines are no longer to be had for nothing.
//
// A head owns one slot of its slab. So the slab lives while it is there, whether or not its blocks are free: one block that
// is taken and freed again and again does not make and end a slab each time. Who takes the slab off gets that slot. All slabs
// that a head may have are of equal slots of just its class's size; how many tells the header.
//
// Between reading owners and setting bits the slab may be taken off, end, and its line's word become anything.
//   - It is never data: of these bit 31 is set, and here owners are changed only while it is not. (Slots are taken in order,
//     31 last. A slab whose slot 31 is taken while others are free is taken off; its holes are in their tree.)
//   - It may be another slab's owners. So who set the bits looks at the head again. Whoever makes a slab whose owners are no
//     data stores its header first, then releases these, and comes after the end of the slab before, and that after it was taken
//     off; the lane that set bits acquires:
//     so if they are another slab's, he sees that the head has changed. (Or it names that line and slot once more, for another
//     slab: then the bits are in its owners, and he looks at the header once more, which now cannot change: if it is what he
//     read before, they are slots of that one.) Whom the head still names the old slab, though it was just taken off, has a
//     slot of a slab that lives, as if he had been there before.
//     If it has changed, he clears the bits again, and begins anew. If the slab that they are of has free slots, it is marked
//     HOLEY since before its owners were released, so that he sees it, and lists them: others may have missed them. If it has
//     none, it is one that lanes took together; those free it piecemeal then, since its owners are not just theirs.
//   - What the head and the owners said before he set bits may be as old as it likes: that the bits could be set says what the
//     owners were then, and the second look what the head was later.
//
// Two heads may have one slab, which one got as one with holes that the other had not seen yet; each owns another slot of it.
//
// A work-item stopped for ever in here costs its request, a slab or a slot, and if it was getting a slab for a head, that
// head, in a heap with many heads until another gives it his; where a class has no other, each later request of it tries that one KMA_SL_ALL_HEADS times, and goes on to holes.
#ifndef KMA_HEAP_SLAB_HEADS_CL
#define KMA_HEAP_SLAB_HEADS_CL

#include "kma/platform/lanes.cl"
#include "kma/platform/place.cl"
#include "kma/heap/slab_gaps.cl"
#include "kma/heap/slab_holes.cl"

// How often one tries to set bits of a head's slab before he looks at the head again; how often he does so, at how many heads.
#ifndef KMA_SL_CLAIMS
#define KMA_SL_CLAIMS 4u
#endif
#ifndef KMA_SL_HEAD_TRIES
#define KMA_SL_HEAD_TRIES 3u
#endif
#ifndef KMA_SL_HEADS
#define KMA_SL_HEADS 4u
#endif
#define KMA_SL_ALL_HEADS (256 * KMA_SL_HEADS) // so often all heads of a class together are tried, if that is more
#define KMA_SL_OWN_LOOKS 1u                  // at chunks for a hole, instead of a slab for oneself
// So many who come together get holes only if so many looks find no lines either: a slab has some three, for twice the steps.
#ifndef KMA_SL_SOME
#define KMA_SL_SOME 4u
#endif
#define KMA_SL_SOON 2u

static inline global kma_atomic_u32 *kma_sl_head(const kma_sl_heap *sl, uint place, uint size_class)
{
    return kma_sl_at(sl->heap, sl->plan.heads) + kma_sl_head_number(sl->plan.places, place, size_class);
}

// Of a class with a header: that of the slab at a line, whatever is there now.
static inline uint kma_sl_header_of(const kma_sl_heap *sl, uint first, uint size_class)
{
    return size_class != 0 ? kma_load_u32(kma_sl_word(sl, first + 1), KMA_RELAXED) : 0;
}

// The slots of a slab with that header at a head.
static inline uint kma_sl_slots_of(uint header, uint size_class)
{
    return size_class != 0 ? kma_sl_all_slots(header & 63u) : 0xffffffffu;
}

// Takes a slab off its head, if it is still there: the head's own slot is the caller's then.
static inline bool kma_sl_behead(global kma_slab *heap, global kma_atomic_u32 *head, uint seen, uint size_class)
{
    if (kma_cas_u32(head, seen, 0, KMA_ACQUIRE) != seen)
        return false;
    kma_fetch_add_u32(&heap->headed[size_class], ~0u, KMA_RELAXED);
    return true;
}

// Puts a slab, `kept`, to a head that another, or the caller, gets one; not if it has one since: others do not wait for who is slow.
static inline bool kma_sl_put_head(global kma_slab *heap, global kma_atomic_u32 *head, uint kept, uint size_class)
{
    kma_fetch_add_u32(&heap->headed[size_class], 1, KMA_RELAXED);
    // Whoever takes it off reads what tells of the slab.
    if (kma_cas_u32(head, KMA_SL_HEAD_BUSY, kept, KMA_RELEASE) == KMA_SL_HEAD_BUSY)
        return true;
    kma_fetch_add_u32(&heap->headed[size_class], ~0u, KMA_RELAXED);
    return false;
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

// A slab was taken off its head: its free slots are holes. The head's own slot is the caller's.
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

#define KMA_SL_NO_SLOTS 0u // others were quicker
#define KMA_SL_NONE_LEFT KMA_SL_NONE // which all 32 slots cannot be, as a head owns one

// Up to `count` slots of the slab at a head, `seen`.
static inline uint kma_sl_claim_slots(const kma_sl_heap *sl, global kma_atomic_u32 *head, uint seen, uint size_class, uint count)
{
    const uint first = kma_sl_head_line(seen);
    const uint header = kma_sl_header_of(sl, first, size_class);
    uint owners = kma_load_u32(kma_sl_word(sl, first), KMA_RELAXED);
    uint mine = 0;
    for (uint tries = KMA_SL_CLAIMS; tries != 0 && mine == 0; tries--) {
        const uint some = kma_sl_lowest(kma_sl_spare(kma_sl_slots_of(header, size_class), owners), count);
        if (some == 0)
            return KMA_SL_NONE_LEFT;
        const uint before = kma_cas_u32(kma_sl_word(sl, first), owners, owners | some, KMA_ACQUIRE);
        mine = before == owners ? some : 0;
        owners = before;
    }
    if (mine == 0)
        return KMA_SL_NO_SLOTS;
    const uint again = kma_sl_header_of(sl, first, size_class); // which stays now
    if (kma_load_u32(head, KMA_RELAXED) == seen && again == header)
        return mine;
    kma_sl_undo(sl->heap, first, mine);
    return KMA_SL_NO_SLOTS;
}

// The head's own slot, for who takes its slab off since that has no more for him; none if another was quicker.
static inline uint kma_sl_take_own(global kma_slab *heap, global kma_atomic_u32 *head, uint seen, uint size_class)
{
    if (!kma_sl_behead(heap, head, seen, size_class))
        return 0;
    kma_sl_list_spare(heap, kma_sl_head_line(seen));
    return kma_sl_head_own(seen);
}

// Up to `count` slots of the slab at a head, `seen`; none if others are quicker. If it has no more, it is taken off, and the head's
// own slot is one of the caller's.
static inline KMA_COLD uint kma_sl_share_head(global kma_slab *heap, global kma_atomic_u32 *head, uint seen, uint size_class,
                                              uint count)
{
    const kma_sl_heap sl = kma_sl_open(heap);
    KMA_IN_MEMORY uint slots = KMA_SL_NO_SLOTS;
    for (KMA_IN_MEMORY uint tries = KMA_SL_HEAD_TRIES; tries != 0 && slots == KMA_SL_NO_SLOTS; tries--)
        slots = kma_sl_claim_slots(&sl, head, seen, size_class, count);
    if (slots == KMA_SL_NO_SLOTS)
        return slots;
    slots = slots != KMA_SL_NONE_LEFT ? slots : 0;
    return (uint)popcount(slots) == count ? slots : slots | kma_sl_take_own(heap, head, seen, size_class);
}

// Slots of one slab, each of so many units.
typedef struct kma_sl_from {
    uint unit;  // where slot 0 begins, or if sizes differ the one slot that was got. KMA_SL_NONE: there were no lines
    uint units; // of each; 0: the sizes differ
    uint slots; // 0: none
} kma_sl_from;

// The block that is the slot with the rank in order, of as many as there are; KMA_NULL if there are fewer.
static inline kma_ref kma_sl_block_of(uint begin, kma_sl_from from, uint rank)
{
    const uint left = from.slots & ~kma_sl_lowest(from.slots, rank);
    return left != 0 ? begin + from.unit + kma_sl_first_bit(left) * from.units : KMA_NULL;
}

// Lines for a slab of a head where the caller's place takes them; KMA_SL_NONE if some of them are taken.
static inline KMA_COLD uint kma_sl_draw_for_head(global kma_slab *heap, uint lines)
{
    const kma_sl_heap sl = kma_sl_open(heap);
    if (kma_sl_is_scarce(heap, lines))
        return KMA_SL_NONE;
    const uint first = kma_sl_draw(&sl, KMA_SL_BAND_HEADS, lines);
    if (first == KMA_SL_NONE)
        return first;
    const kma_sl_part part = kma_sl_take_part(&sl, first, lines, 0, 1); // by a step that no other's in that chunk can make fail
    if (part.chunk == KMA_SL_NONE)
        return first;
    kma_sl_give_part(&sl, first, lines, 0, 1, part);
    return KMA_SL_NONE;
}

// Makes a slab of a class for a head, if a draw or so many looks find lines, with up to `count` slots for the caller.
static inline KMA_COLD void kma_sl_make_shared(kma_sl_search *search, uint looks)
{
    const kma_sl_size size = search->heap->sizes[search->own_class];
    uint first = kma_sl_draw_for_head(search->heap, size.lines);
    if (first == KMA_SL_NONE)
        first = kma_sl_look(search->heap, size.lines, looks);
    if (first == KMA_SL_NONE)
        return;
    const kma_sl_heap sl = kma_sl_open(search->heap);
    search->first = first;
    search->kept = 1u;
    search->slots = kma_sl_lowest(kma_sl_all_slots(size.slots) & ~1u, search->count);
    kma_sl_make(&sl, first, size.lines, size.units, size.slots, search->slots | 1u);
    search->block = sl.plan.begin + first * KMA_SL_LINE + kma_sl_first_bit(search->slots) * size.units;
}

// Slots of a new slab, if the cursor leads to free lines, as it does until it has gone round the heap; else of one with holes, or of
// a new one of lines that are near by. For large blocks holes have been looked for before.
static inline void kma_sl_find_slots(kma_sl_search *search)
{
    const bool is_small = search->size_class < KMA_SL_SMALL_CLASSES;
    for (KMA_IN_MEMORY uint step = is_small ? 0 : 2; step < 3 && search->block == KMA_NULL; step++) {
        if (step == 1)
            kma_sl_fill(search, search->for_head ? KMA_SL_HOLE_LOOKS : KMA_SL_OWN_LOOKS);
        else
            kma_sl_make_shared(search, step == 2 ? KMA_SL_LOOKS : search->count >= KMA_SL_SOME ? KMA_SL_SOON : 0);
    }
}

// Up to `count` slots of a class, at multiples of `align` units, of a slab with holes or a new one, which `head` gets if it may have
// it; that is BUSY by the caller, or NULL.
static inline KMA_COLD kma_sl_from kma_sl_refill(global kma_slab *heap, global kma_atomic_u32 *head, uint size_class, uint align,
                                                 uint count)
{
    kma_sl_search search;
    search.heap = heap;
    search.units = kma_sl_units(size_class);
    search.align = align;
    search.own_class = search.size_class = size_class;
    search.count = count;
    search.for_head = head != (global kma_atomic_u32 *)0;
    search.block = KMA_NULL;
    search.slots = search.kept = search.first = 0;
    kma_sl_find_slots(&search);
    const uint kept = search.kept != 0 ? kma_sl_head_of(search.first, kma_sl_first_bit(search.kept)) : 0;
    if (search.for_head && kept == 0)
        kma_cas_u32(head, KMA_SL_HEAD_BUSY, 0, KMA_RELAXED);
    if (kept != 0 && !(search.for_head && kma_sl_put_head(heap, head, kept, size_class)))
        kma_sl_let_go(heap, search.first, search.kept, true); // its other slots are holes
    kma_sl_from from;
    from.unit = KMA_SL_NONE;
    from.units = 0;
    from.slots = search.slots;
    if (search.slots == 0)
        return from;
    const kma_sl_heap sl = kma_sl_open(heap);
    from.units = kma_sl_form_of(&sl, search.first, kma_sl_mark(&sl, search.first)).units;
    from.unit = from.units != 0 ? search.first * KMA_SL_LINE : search.block - sl.plan.begin;
    return from;
}

// Up to `count` slots of the slab at a head; none if it has none, or others are quicker.
static inline KMA_COLD kma_sl_from kma_sl_from_head(global kma_slab *heap, global kma_atomic_u32 *head, uint size_class, uint count)
{
    const uint seen = kma_load_u32(head, KMA_RELAXED);
    kma_sl_from from;
    from.unit = kma_sl_head_line(seen) * KMA_SL_LINE;
    from.units = kma_sl_units(size_class);
    from.slots = 0;
    if (kma_sl_head_has_slab(seen))
        from.slots = kma_sl_share_head(heap, head, seen, size_class, count);
    return from;
}

// Whether a head had no slab, and the caller is who gets it one.
static inline bool kma_sl_is_mine(global kma_atomic_u32 *head)
{
    return kma_load_u32(head, KMA_RELAXED) == 0 && kma_cas_u32(head, 0, KMA_SL_HEAD_BUSY, KMA_RELAXED) == 0;
}

// Where one goes on who gets nothing at a head, with `tries` left.
static inline uint kma_sl_other_place(uint tries)
{
    return kma_mix32(kma_spread() + tries * 0x9e3779b9u);
}

// Up to `count` blocks of a class, whose slabs' slots are at multiples of `align` units, from the head of the caller's place, or
// of others, which get slabs if they have none, or from a slab of his own. None if there are no lines near by, or, unless `anew`,
// there are holes.
static inline KMA_COLD kma_sl_from kma_sl_from_heads(global kma_slab *heap, uint size_class, uint align, uint count, bool anew)
{
    kma_sl_from from;
    from.unit = from.units = from.slots = 0;
    const kma_sl_heap sl = kma_sl_open(heap);
    const bool has_holes = kma_sl_has_holes_for(&sl, size_class);
    KMA_IN_MEMORY const bool refills = has_holes ? anew : !kma_sl_is_scarce(heap, heap->sizes[size_class].lines);
    if (!refills && kma_load_u32(&heap->headed[size_class], KMA_RELAXED) == 0) // no head has a slab, or gets one
        return from;
    KMA_IN_MEMORY uint place = kma_near_place();
    global kma_atomic_u32 *mine = (global kma_atomic_u32 *)0;
    for (KMA_IN_MEMORY uint tries = max(KMA_SL_HEADS, KMA_SL_ALL_HEADS / sl.plan.places); tries != 0 && !mine; tries--) {
        global kma_atomic_u32 *const head = kma_sl_head(&sl, place, size_class);
        from = kma_sl_from_head(heap, head, size_class, count);
        if (from.slots != 0)
            return from;
        mine = refills && kma_sl_is_mine(head) ? head : mine;
        place = kma_sl_other_place(tries);
    }
    return refills ? kma_sl_refill(heap, mine, size_class, align, count) : from;
}

// Whether so many lanes that want `units` each get them from slabs that they share: one of their own would be mostly empty.
static inline bool kma_sl_shares(uint units, uint many)
{
    return many == 1 || (units <= KMA_SL_SMALL_CLASSES && many < KMA_SL_SLOTS && many * units <= KMA_SL_LINE);
}

// The slab of one head, if it is to be taken off.
static inline KMA_COLD void kma_sl_take_off_one(global kma_slab *heap, global kma_atomic_u32 *head, uint size_class,
                                                bool if_idle)
{
    const kma_sl_heap sl = kma_sl_open(heap);
    const uint seen = kma_load_u32(head, KMA_RELAXED);
    if (!kma_sl_head_has_slab(seen))
        return;
    const uint first = kma_sl_head_line(seen), own = kma_sl_head_own(seen);
    const bool is_idle = kma_load_u32(kma_sl_word(&sl, first), KMA_RELAXED) == own;
    if ((is_idle || !if_idle) && kma_sl_behead(heap, head, seen, size_class))
        kma_sl_let_go(heap, first, own, true); // others may have come meanwhile
}

// Takes slabs off their heads: those that nobody else uses, so that they end; or all, so that the free slots of the others are
// holes.
static inline KMA_COLD void kma_sl_take_off(global kma_slab *heap, bool idle_ones)
{
    const kma_sl_heap sl = kma_sl_open(heap);
    for (uint size_class = 0; size_class < KMA_SL_CLASSES; size_class++) {
        const bool has_slabs = kma_load_u32(&heap->headed[size_class], KMA_RELAXED) != 0;
        const uint places = has_slabs ? kma_sl_places_of(sl.plan.places, size_class) : 0;
        for (uint place = 0; place < places; place++)
            kma_sl_take_off_one(heap, kma_sl_head(&sl, place, size_class), size_class, idle_ones);
    }
}

// A block of a class at a multiple of `align` units, which those who come together with the caller get from heads; else KMA_NULL.
// Many who want blocks of which a slab has few look for holes better each for himself.
static inline KMA_COLD kma_ref kma_sl_take_shared(global kma_slab *heap, uint size_class, uint align)
{
    kma_ref block = KMA_NULL;
    const kma_lanes group = kma_lanes_alike(kma_lanes_active(), (ulong)heap);
    if (!kma_lane_in(group)) // of another heap than the leader's
        return block;
    const uint begin = heap->plan.begin;
    const kma_lanes alike = kma_lanes_match(group, align << 6 | size_class, 12); // `align` is KMA_SL_LINE at most
    const bool anew = size_class < KMA_SL_SMALL_CLASSES && kma_lanes_count(group) <= heap->sizes[size_class].slots;
    bool waits = true;
    for (;;) { // no more rounds than lanes: in each, one lane of each class leaves at least
        const kma_lanes all_waiting = kma_lanes_ballot(group, waits);
        if (all_waiting == 0)
            break;
        const kma_lanes waiting = waits ? all_waiting & alike : (kma_lanes)1 << kma_lane_id(); // else I alone
        const uint rank = kma_lane_rank(waiting);
        const uint leader = kma_lowest_bit(waiting);
        kma_sl_from from;
        from.unit = from.units = from.slots = 0;
        if (waits && rank == 0)
            from = kma_sl_from_heads(heap, size_class, align, kma_lanes_count(waiting), anew);
        from.unit = kma_lanes_shuffle(group, from.unit, leader);
        from.units = kma_lanes_shuffle(group, from.units, leader);
        from.slots = kma_lanes_shuffle(group, from.slots, leader);
        kma_lanes_sync(group); // what the leader acquired, all need
        if (waits)
            block = kma_sl_block_of(begin, from, rank);
        waits = waits && from.slots != 0 && block == KMA_NULL;
    }
    return block;
}

#endif
