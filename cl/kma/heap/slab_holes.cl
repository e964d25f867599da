// Slots of living slabs: how they become free, and are found and filled again; and how a slab ends.
//
// A slab lives while its owners are not 0, and nobody sets a bit in owners that are 0. So whoever clears the last one ends
// it, alone, and its lines may become others' at once:
//
//   owners 1…1 ----- free, some of them -----> owners, some 0 ----- free, the last ones ------> 0: lines given back
//       ^                                       |    ^                                            |
//       |                                       v    |                                            v  chunk is pinned
//       +------------ filled: here, or in slab_heads.cl                                     mark CLOSED, until it is not
//
// A free slot of a slab that others use is a hole. For each class a tree tells of chunks in which slabs with holes begin:
//
//   a slot of a size from class c to the next is free, and its slab is no head (slab_heads.cl)
//                          =>  the chunk is in the tree of c, or somebody is about to put it in
//
// The reverse need not hold. Who finds no hole in a chunk takes it out, looks once more, and puts it back if there is one
// now; he acquires what they released who put it in before. A look is two loads for each slab with that mark (kma_sl_may_fit).
//
// Who fills holes of a slab reads the owners and sets bits by compare-and-swap. Between the two the slab might end, its lines
// become another slab's, and that word data which happen to be equal. Therefore
//   - he looks only at slabs that are marked HOLEY, which whoever makes a hole sees to before he does so, by a release; so
//     what tells of the slab is there to see;
//   - he pins the chunk first, one more in its pin word; and who ends a HOLEY slab looks at that, after the owners are 0,
//     by a read-modify-write. If the pin was first, the slab is CLOSED, and its lines are left to who unpins. Else he who
//     pinned sees that the owners are 0;
//   - these may have become something else already, when he reads them. So after that he reads the mark again, behind a
//     read-modify-write of `used`: if others took the line before that, he sees that the mark is gone; else what he read
//     was still the owners.
// A slab that never was HOLEY ends without a look at pins. So what lanes took together and free together costs nothing
// more. Heads fill slots without all that: slab_heads.cl.
//
// A work-item stopped for ever in here costs its request, one slab, and the lines of slabs that end in the chunk it pinned.
#ifndef KMA_HEAP_SLAB_HOLES_CL
#define KMA_HEAP_SLAB_HOLES_CL

#include "kma/heap/error_log.cl"
#include "kma/heap/ref.cl"
#include "kma/heap/slab_form.cl"
#include "kma/lockfree/bit_tree.cl"

static inline global kma_atomic_u32 *kma_sl_pin(const kma_sl_heap *sl, uint chunk)
{
    return kma_sl_at(sl->heap, sl->plan.pins) + chunk;
}

// ------ trees of holes ----------------------------------------------------------------------------------------------

static inline global kma_atomic_u32 *kma_sl_tree(const kma_sl_heap *sl, uint size_class)
{
    return kma_sl_at(sl->heap, sl->plan.trees) + (size_t)sl->plan.tree_words * size_class;
}

static inline bool kma_sl_has_holes(const kma_sl_heap *sl, uint size_class)
{
    return kma_load_u32(kma_sl_tree(sl, size_class) + sl->plan.tree_words - 1, KMA_RELAXED) != 0; // its root
}

// Whether there may be holes for a block of a class: the largest of the class below may do.
static inline bool kma_sl_has_holes_for(const kma_sl_heap *sl, uint size_class)
{
    return kma_sl_has_holes(sl, size_class) || (size_class != 0 && kma_sl_has_holes(sl, size_class - 1));
}

static inline KMA_COLD void kma_sl_tree_put(global kma_slab *heap, uint size_class, uint chunk)
{
    const kma_sl_heap sl = kma_sl_open(heap);
    kma_bit_tree_put(kma_sl_tree(&sl, size_class), sl.plan.room, chunk);
}

static inline KMA_COLD bool kma_sl_tree_take(global kma_slab *heap, uint size_class, uint chunk)
{
    const kma_sl_heap sl = kma_sl_open(heap);
    return kma_bit_tree_take(kma_sl_tree(&sl, size_class), sl.plan.room, chunk);
}

// A chunk of a tree: the first one at or behind `from`, or with `any_does` one near it, so that those who come from different
// places part even where a long way holds none. KMA_BIT_TREE_NONE if there is none.
static inline KMA_COLD uint kma_sl_tree_next(global kma_slab *heap, uint size_class, uint from, bool any_does)
{
    const kma_sl_heap sl = kma_sl_open(heap);
    global kma_atomic_u32 *const tree = kma_sl_tree(&sl, size_class);
    if (!kma_sl_has_holes(&sl, size_class))
        return KMA_BIT_TREE_NONE;
    return any_does ? kma_bit_tree_find(tree, sl.plan.room, from) : kma_bit_tree_next(tree, sl.plan.room, from);
}

// ------ the end of a slab -------------------------------------------------------------------------------------------

// Of a slab that ended, before its lines are given back.
static inline void kma_sl_unmark(const kma_sl_heap *sl, uint first)
{
    kma_fetch_and_u32(kma_sl_marks(sl, first), ~(15u << kma_sl_mark_shift(first)), KMA_RELAXED);
}

// Of those who see that a slab is closed, one buries it.
static inline KMA_COLD void kma_sl_bury_closed(global kma_slab *heap, uint first)
{
    const kma_sl_heap sl = kma_sl_open(heap);
    const uint closed = KMA_SL_MARK_CLOSED << kma_sl_mark_shift(first);
    if ((kma_fetch_and_u32(kma_sl_marks(&sl, first), ~closed, KMA_ACQ_REL) & closed) == 0)
        return;
    const uint lines = kma_sl_form_of(&sl, first, kma_sl_mark(&sl, first)).lines;
    kma_sl_unmark(&sl, first);
    kma_sl_give_lines(heap, first, lines);
}

// The caller cleared the last owners of a slab that is HOLEY.
static inline KMA_COLD void kma_sl_close(global kma_slab *heap, uint first)
{
    const kma_sl_heap sl = kma_sl_open(heap);
    kma_fetch_or_u32(kma_sl_marks(&sl, first), KMA_SL_MARK_CLOSED << kma_sl_mark_shift(first), KMA_ACQ_REL);
    if (kma_fetch_add_u32(kma_sl_pin(&sl, first >> KMA_SL_LINE_SHIFT), 0, KMA_ACQ_REL) == 0)
        kma_sl_bury_closed(heap, first);
}

static inline KMA_COLD void kma_sl_unpin(global kma_slab *heap, uint chunk)
{
    const kma_sl_heap sl = kma_sl_open(heap);
    if (kma_fetch_add_u32(kma_sl_pin(&sl, chunk), ~0u, KMA_ACQ_REL) != 1)
        return;
    for (uint line = chunk * KMA_SL_LINE; line < (chunk + 1) * KMA_SL_LINE; line += KMA_SL_MARKS) {
        const uint marks = kma_load_u32(kma_sl_marks(&sl, line), KMA_RELAXED);
        const uint closed = marks & 0x11111111u * KMA_SL_MARK_CLOSED;
        // It may have been closed since, while another had pinned the chunk, who has looked at it before. Nobody has if the chunk
        // is not pinned now: who pins it later sees that it is closed. Else this is left to who unpins.
        if (closed != 0 && kma_fetch_add_u32(kma_sl_pin(&sl, chunk), 0, KMA_ACQ_REL) != 0)
            return;
        for (uint left = closed; left != 0; left &= left - 1)
            kma_sl_bury_closed(heap, line + kma_sl_first_bit(left) / 4);
    }
}

// ------ holes appear ------------------------------------------------------------------------------------------------

// Before a slot of a slab becomes free while others are not; the caller has one, so that the slab lives.
static inline void kma_sl_make_holey(const kma_sl_heap *sl, uint first, uint mark)
{
    if ((mark & KMA_SL_MARK_HOLEY) == 0)
        kma_fetch_or_u32(kma_sl_marks(sl, first), KMA_SL_MARK_HOLEY << kma_sl_mark_shift(first), KMA_RELEASE);
}

// The caller has marked as HOLEY what was no slab any more: its blocks were freed already.
static inline KMA_COLD void kma_sl_unmark_stray(global kma_slab *heap, uint first)
{
    const kma_sl_heap sl = kma_sl_open(heap);
    const uint shift = kma_sl_mark_shift(first);
    for (;;) { // once more only if another changed the word
        const uint word = kma_load_u32(kma_sl_marks(&sl, first), KMA_RELAXED);
        if ((word >> shift & 15u) != KMA_SL_MARK_HOLEY ||
            kma_cas_u32(kma_sl_marks(&sl, first), word, word & ~(KMA_SL_MARK_HOLEY << shift), KMA_RELAXED) == word)
            return;
    }
}

// Whether slots that became free, `before` being the owners until then, are holes that no tree tells of yet. Of equal
// slots whoever made the first hole puts the slab in.
static inline bool kma_sl_makes_hole(const kma_sl_form *form, uint before)
{
    return form->units == 0 || (before & form->slots) == form->slots;
}

// `slots` of a slab, which is HOLEY, are such holes. It may have ended since.
static inline KMA_COLD void kma_sl_list_holes(global kma_slab *heap, const kma_sl_form *form, uint first, uint slots)
{
    KMA_IN_MEMORY uint listed = KMA_SL_CLASSES; // the class that was put in just before
    for (KMA_IN_MEMORY uint left = slots; left != 0; left &= form->units != 0 ? 0 : left - 1) {
        const uint size_class = kma_sl_class_within(kma_sl_room(form, kma_sl_first_bit(left)));
        if (size_class != listed)
            kma_sl_tree_put(heap, size_class, first >> KMA_SL_LINE_SHIFT);
        listed = size_class;
    }
}

// Gives back `slots` of a slab, which are the caller's, who has not touched the memory. `always`: its other free slots may
// be in no tree.
static inline KMA_COLD void kma_sl_let_go(global kma_slab *heap, uint first, uint slots, bool always)
{
    const kma_sl_heap sl = kma_sl_open(heap);
    const uint mark = kma_sl_mark(&sl, first);
    const kma_sl_form form = kma_sl_form_of(&sl, first, mark); // while it lives by me
    kma_sl_make_holey(&sl, first, mark);
    const uint before = kma_fetch_and_u32(kma_sl_word(&sl, first), ~slots, KMA_ACQ_REL);
    if ((before & ~slots) == 0)
        kma_sl_close(heap, first);
    else if (always || kma_sl_makes_hole(&form, before))
        kma_sl_list_holes(heap, &form, first, slots & form.slots);
}

// ------ holes are filled --------------------------------------------------------------------------------------------

// What a lane alone wants, and how far its search got. In memory, and handed from function to function: what these would
// keep in registers while they call one another, NVIDIA's compiler adds up, and every kernel that might call them has so many.
typedef struct kma_sl_search {
    global kma_slab *heap;
    KMA_IN_MEMORY uint units;
    KMA_IN_MEMORY uint align;      // in units
    KMA_IN_MEMORY uint own_class;  // KMA_SL_CLASSES: of none
    KMA_IN_MEMORY uint step;
    KMA_IN_MEMORY uint size_class; // of the holes that are looked at
    KMA_IN_MEMORY uint from;       // chunk
    KMA_IN_MEMORY uint chunk;      // that is looked at
    KMA_IN_MEMORY uint tries;      // that are left
    KMA_IN_MEMORY uint looks;      // at so many chunks, at most
    KMA_IN_MEMORY bool is_out;     // of the tree: the caller found none there, and looks once more
    KMA_IN_MEMORY uint count;      // of slots that are wanted; of a slab whose sizes differ, one is found
    KMA_IN_MEMORY bool for_head;   // who looks also wants a slab for a head
    KMA_IN_MEMORY kma_ref block;   // what was found: the first of them; KMA_NULL: nothing yet
    KMA_IN_MEMORY uint first;      // line of their slab
    KMA_IN_MEMORY uint slots;      // which they are
    KMA_IN_MEMORY uint kept;       // one more, for a head, which may have that slab; 0: none
} kma_sl_search;

// The lowest `count` bits of `bits`, or all if there are fewer.
static inline uint kma_sl_lowest(uint bits, uint count)
{
    uint rest = bits;
    for (; count != 0 && rest != 0; count--) // one bit each time
        rest &= rest - 1;
    return bits & ~rest;
}

// The slots that a head gives of a slab with these owners: none behind slot 31, the last one (slab_heads.cl).
static inline uint kma_sl_spare(uint all_slots, uint owners)
{
    return owners != 0 && (owners & KMA_SL_DATA) == 0 ? all_slots & ~owners : 0;
}

// Which slots of the class with at least `units`, at multiples of `align` units, a living slab has that are not among `owners`:
// as many as are wanted of one whose slots are equal, else one.
static inline KMA_COLD uint kma_sl_fitting(const kma_sl_search *search, const kma_sl_form *form, uint first, uint owners)
{
    uint slots = 0;
    for (uint left = form->slots & ~owners; left != 0 && search->count > (uint)popcount(slots); left &= left - 1) {
        const uint slot = kma_sl_first_bit(left);
        const uint room = kma_sl_room(form, slot);
        if (room < search->units || kma_sl_class_within(room) != search->size_class)
            continue;
        if (((first * KMA_SL_LINE + kma_sl_offset(form, slot)) & (search->align - 1)) == 0)
            slots |= 1u << slot;
        if (slots != 0 && form->units == 0)
            break;
    }
    return slots;
}

// A slot for a head, if it may have a slab with these owners (slab_heads.cl) and others are free besides; else 0.
static inline uint kma_sl_keep(const kma_sl_search *search, const kma_sl_form *form, uint owners)
{
    const uint spare = kma_sl_spare(form->slots, owners);
    const bool may = search->for_head && form->units == kma_sl_units(search->size_class);
    return may && (spare & (spare - 1)) != 0 ? spare & (0 - spare) : 0;
}

// Whether a slab with that mark may have a hole of the class, as far as two loads tell. What they read may be another slab's
// already; but who made a hole before the chunk was put into the tree is seen.
static inline bool kma_sl_may_fit(const kma_sl_search *search, const kma_sl_heap *sl, uint first, uint mark)
{
    const uint form = mark & KMA_SL_MARK_FORM;
    if (form == KMA_SL_MARK_FINE && search->size_class != 0)
        return false;
    const uint owners = kma_load_u32(kma_sl_word(sl, first), KMA_RELAXED);
    const uint header = kma_load_u32(kma_sl_word(sl, first + 1), KMA_RELAXED);
    if (form == KMA_SL_MARK_FINE)
        return owners != 0xffffffffu;
    if (form == KMA_SL_MARK_SMALL || (header & KMA_SL_MIXED) != 0)
        return owners != 0xffffffffu;
    const uint units = (header & KMA_SL_VALUE) >> 6;
    return (header & KMA_SL_RUN) == 0 && (kma_sl_all_slots(header & 63u) & ~owners) != 0 && units >= search->units &&
           kma_sl_class_within(units) == search->size_class;
}

// Fills holes of a slab that lives, and cannot become another one, if its owners still are these: false if they are not.
static inline KMA_COLD bool kma_sl_fill_these(kma_sl_search *search, uint first, uint mark, uint owners)
{
    const kma_sl_heap sl = kma_sl_open(search->heap);
    const kma_sl_form form = kma_sl_form_of(&sl, first, mark);
    const uint slots = kma_sl_fitting(search, &form, first, owners);
    if (slots == 0)
        return true;
    const uint kept = kma_sl_keep(search, &form, owners | slots);
    if (kma_cas_u32(kma_sl_word(&sl, first), owners, owners | slots | kept, KMA_ACQUIRE) != owners)
        return false;
    search->block = search->heap->plan.begin + first * KMA_SL_LINE + kma_sl_offset(&form, kma_sl_first_bit(slots));
    search->first = first;
    search->slots = slots;
    search->kept = kept;
    return true;
}

// Fills holes of the slab at a line of a chunk that the caller has pinned.
static inline KMA_COLD void kma_sl_fill_slab(kma_sl_search *search, uint first)
{
    for (;;) { // once more only if another changed the owners
        const kma_sl_heap sl = kma_sl_open(search->heap);
        const uint mark = kma_load_u32(kma_sl_marks(&sl, first), KMA_ACQUIRE) >> kma_sl_mark_shift(first) & 15u;
        if ((mark & (KMA_SL_MARK_HOLEY | KMA_SL_MARK_CLOSED)) != KMA_SL_MARK_HOLEY || (mark & KMA_SL_MARK_FORM) == 0)
            return;
        const uint owners = kma_load_u32(kma_sl_word(&sl, first), KMA_RELAXED);
        kma_fetch_or_u32(kma_sl_used(&sl, first >> KMA_SL_LINE_SHIFT), 0, KMA_ACQ_REL);
        // An acquire, too: if it is another slab's by now, what is read of it below must be that one's.
        const uint again = kma_load_u32(kma_sl_marks(&sl, first), KMA_ACQUIRE) >> kma_sl_mark_shift(first) & 15u;
        if (owners == 0 || again != mark)
            return;
        // What tells of it stays now, as the chunk is pinned.
        if (kma_sl_fill_these(search, first, mark, owners))
            return;
    }
}

// Acquires what they did who ended slabs of the chunk and saw no pin yet.
static inline KMA_COLD void kma_sl_pin_chunk(global kma_slab *heap, uint chunk)
{
    kma_fetch_add_u32(kma_sl_at(heap, heap->plan.pins) + chunk, 1, KMA_ACQUIRE);
}

// Fills holes of a slab that begins in the chunk, which is pinned only if one may have some.
static inline KMA_COLD void kma_sl_fill_chunk(kma_sl_search *search)
{
    const uint begin = search->chunk * KMA_SL_LINE;
    bool is_pinned = false;
    for (uint line = begin; line < begin + KMA_SL_LINE && search->block == KMA_NULL; line++) {
        const kma_sl_heap sl = kma_sl_open(search->heap);
        const uint marks = kma_load_u32(kma_sl_marks(&sl, line), KMA_RELAXED) >> kma_sl_mark_shift(line);
        const uint holey = marks & 0x88888888u;
        if (holey == 0) {
            line |= KMA_SL_MARKS - 1;
            continue;
        }
        const uint bit = kma_sl_first_bit(holey) & ~3u;
        line += bit / 4;
        if (!kma_sl_may_fit(search, &sl, line, marks >> bit & 15u))
            continue;
        if (!is_pinned)
            kma_sl_pin_chunk(search->heap, search->chunk);
        is_pinned = true;
        kma_sl_fill_slab(search, line);
    }
    if (is_pinned)
        kma_sl_unpin(search->heap, search->chunk);
}

// Whether any hole of the class will do. If not, each chunk that has such gets one look.
static inline bool kma_sl_any_will_do(const kma_sl_search *search)
{
    return search->align == 1 && search->size_class >= search->own_class;
}

#define KMA_SL_SOME_LOOKS 0xffffu // so many at most, or all

// Whether all chunks are looked at in turn, since not any hole of the class will do.
static inline bool kma_sl_goes_through(const kma_sl_search *search)
{
    return search->looks > KMA_SL_SOME_LOOKS && !kma_sl_any_will_do(search);
}

// A chunk had no hole that would do. If any would have, it is taken out of the tree, and looked at once more, or has been.
static inline KMA_COLD void kma_sl_take_out(kma_sl_search *search)
{
    search->is_out = !search->is_out && kma_sl_any_will_do(search) &&
                     kma_sl_tree_take(search->heap, search->size_class, search->chunk);
    search->from = kma_sl_goes_through(search) ? search->chunk + 1
                                               : kma_mix32(search->from + 1) % search->heap->plan.chunks;
}

// At chunks for a hole, of one who need not have it. Each look finds one or takes a chunk out of the tree, which somebody put in,
// so that those in vain cost no more than twice as much as what made the holes.
#define KMA_SL_HOLE_LOOKS 8u
#define KMA_SL_ALL_LOOKS  ~0u

// Fills holes of a class, of one slab, if there are some in as many chunks.
static inline void kma_sl_fill(kma_sl_search *search, uint looks)
{
    search->looks = looks;
    search->from = kma_sl_goes_through(search) ? 0 : kma_mix32(kma_spread()) % search->heap->plan.chunks;
    search->is_out = false;
    while (search->block == KMA_NULL) { // this chunk once more, or the next one, or if another put it in again
        if (!search->is_out) {
            if (search->looks-- == 0)
                return;
            search->chunk =
                kma_sl_tree_next(search->heap, search->size_class, search->from, !kma_sl_goes_through(search));
        }
        if (search->chunk == KMA_BIT_TREE_NONE)
            return;
        kma_sl_fill_chunk(search);
        if (search->block == KMA_NULL)
            kma_sl_take_out(search);
        else if (search->is_out)
            kma_sl_tree_put(search->heap, search->size_class, search->chunk); // there may be more
    }
}

#endif
