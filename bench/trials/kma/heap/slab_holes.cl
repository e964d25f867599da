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
// now; he acquires what they released who put it in before.
//
// Who fills a hole reads the owners and sets a bit by compare-and-swap. Between the two the slab might end, its lines
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

static inline global kma_atomic_u32 *kma_sl_pin(const kma_sl_heap *sl, uint chunk)
{
    return kma_sl_at(sl->heap, sl->plan.pins) + chunk;
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
    for (uint line = chunk * KMA_SL_LINE; line < (chunk + 1) * KMA_SL_LINE; line++)
        if ((kma_sl_mark(&sl, line) & KMA_SL_MARK_CLOSED) != 0)
            kma_sl_bury_closed(heap, line);
}

// ------ holes appear ------------------------------------------------------------------------------------------------

// Before a slot of a slab becomes free while others are not; the caller has one, so that the slab lives.
static inline void kma_sl_make_holey(const kma_sl_heap *sl, uint first, uint mark)
{
    if ((mark & KMA_SL_MARK_HOLEY) == 0)
        kma_fetch_or_u32(kma_sl_marks(sl, first), KMA_SL_MARK_HOLEY << kma_sl_mark_shift(first), KMA_RELEASE);
}

// Whether slots that became free, `before` being the owners until then, are holes that no tree tells of yet. Of equal
// slots whoever made the first hole puts the slab in.
static inline bool kma_sl_makes_hole(const kma_sl_form *form, uint before)
{
    return form->units == 0 || (before & form->all) == form->all;
}

// `slots` of a slab, which is HOLEY, are such holes. It may have ended since.
static inline KMA_COLD void kma_sl_list_holes(global kma_slab *heap, const kma_sl_form *form, uint first, uint slots)
{
    uint listed = KMA_SL_CLASSES; // the class that was put in just before
    for (uint left = slots; left != 0; left &= form->units != 0 ? 0 : left - 1) {
        const uint size_class = kma_sl_class_within(kma_sl_room(form, kma_sl_first_bit(left)));
        if (size_class != listed)
            kma_sl_tree_put(heap, KMA_SL_TREE_HOLES + size_class, first >> KMA_SL_LINE_SHIFT);
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
        kma_sl_list_holes(heap, &form, first, slots & form.all);
}

// ------ holes are filled --------------------------------------------------------------------------------------------

// A slot of the class among the free ones of a slab, at a multiple of `align` units.
static inline uint kma_sl_fitting(const kma_sl_form *form, uint first, uint free_slots, uint size_class, uint align)
{
    for (uint left = free_slots; left != 0; left &= left - 1) {
        const uint slot = kma_sl_first_bit(left);
        if (kma_sl_class_within(kma_sl_room(form, slot)) == size_class &&
            (first * KMA_SL_LINE + kma_sl_offset(form, slot)) % align == 0)
            return slot;
    }
    return KMA_SL_NONE;
}

// Fills a hole of the slab at `line` of the chunk that the caller has pinned, into `block`; or leaves slots that are to be
// given back in `undo`.
static inline KMA_COLD void kma_sl_fill_slab(kma_sl_search *search)
{
    for (;;) { // once more only if another changed the owners
        const kma_sl_heap sl = kma_sl_open(search->heap);
        const uint first = search->line;
        const uint mark = kma_load_u32(kma_sl_marks(&sl, first), KMA_ACQUIRE) >> kma_sl_mark_shift(first) & 15u;
        if ((mark & (KMA_SL_MARK_HOLEY | KMA_SL_MARK_CLOSED)) != KMA_SL_MARK_HOLEY)
            return;
        const uint owners = kma_load_u32(kma_sl_word(&sl, first), KMA_RELAXED);
        kma_fetch_or_u32(kma_sl_used(&sl, first >> KMA_SL_LINE_SHIFT), 0, KMA_ACQ_REL);
        if (owners == 0 || kma_sl_mark(&sl, first) != mark)
            return;
        uint slot, offset, room;
        {
            const kma_sl_form form = kma_sl_form_of(&sl, first, mark);
            slot = kma_sl_fitting(&form, first, form.all & ~owners, search->size_class, search->class_align);
            if (slot == KMA_SL_NONE)
                return;
            offset = kma_sl_offset(&form, slot);
            room = kma_sl_room(&form, slot);
        }
        if (kma_cas_u32(kma_sl_word(&sl, first), owners, owners | 1u << slot, KMA_ACQ_REL) != owners)
            continue;
        // Without slot 31, which heads do not need to see free, it may be another slab than it was.
        const kma_sl_form now = kma_sl_form_of(&sl, first, kma_sl_mark(&sl, first));
        if ((now.all >> slot & 1u) != 0 && kma_sl_room(&now, slot) == room && kma_sl_offset(&now, slot) == offset)
            search->block = sl.plan.begin + first * KMA_SL_LINE + offset;
        else
            search->undo = 1u << slot;
        return;
    }
}

// Fills a hole of a slab that begins in `chunk`, which the caller has pinned.
static inline void kma_sl_fill_chunk(kma_sl_search *search)
{
    for (uint group = 0; group < KMA_SL_LINE / KMA_SL_MARKS && search->block == KMA_NULL; group++) {
        const kma_sl_heap sl = kma_sl_open(search->heap);
        const uint line = search->chunk * KMA_SL_LINE + group * KMA_SL_MARKS;
        uint holey = kma_load_u32(kma_sl_marks(&sl, line), KMA_RELAXED) & 0x88888888u;
        for (; holey != 0 && search->block == KMA_NULL; holey &= holey - 1) {
            search->line = line + kma_sl_first_bit(holey) / 4;
            search->undo = 0;
            kma_sl_fill_slab(search);
            if (search->undo != 0)
                kma_sl_let_go(search->heap, search->line, search->undo, false);
        }
    }
}

// Fills a hole of a class, near the caller's place, if there is one. At multiples of more than one unit each chunk that has
// holes of the class gets one look.
static inline void kma_sl_fill(kma_sl_search *search)
{
    const bool any = search->class_align == 1;
    const uint near = any ? kma_mix32((uint)kma_linear_global_id()) % search->heap->plan.chunks : 0;
    search->from = near;
    search->tree = KMA_SL_TREE_HOLES + search->size_class;
    bool is_out = false; // it is the second look at a chunk, which the caller has taken out
    while (search->block == KMA_NULL) { // once more at this chunk, or with another, or if another put it in again
        if (!is_out)
            search->chunk = kma_sl_tree_next(search->heap, search->tree, search->from, any);
        if (search->chunk == KMA_BIT_TREE_NONE)
            return;
        if (!is_out)
            kma_fetch_add_u32(kma_sl_at(search->heap, search->heap->plan.pins) + search->chunk, 1, KMA_ACQ_REL);
        kma_sl_fill_chunk(search);
        if (is_out && search->block != KMA_NULL)
            kma_sl_tree_put(search->heap, search->tree, search->chunk); // there may be more
        is_out = !is_out && search->block == KMA_NULL && any &&
                 kma_sl_tree_take(search->heap, search->tree, search->chunk);
        if (!is_out)
            kma_sl_unpin(search->heap, search->chunk);
        search->from = any ? near : search->chunk + 1;
    }
}

#endif
