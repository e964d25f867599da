// Malloc by lanes each for itself, behind the current page: another page of the class nearby, a new
// page, a page or a slab of the class anywhere; and where all of that fails, whatever memory there
// is.
#ifndef KMA_HEAP_SLAB_STRAY_ALLOC_CL
#define KMA_HEAP_SLAB_STRAY_ALLOC_CL

#include "kma/heap/slab/release.cl"
#include "kma/platform/pause.cl"

// Takes a slot in a listed frame among the 32 around `frame`; takes those out that have none.
static inline kma_ref kma_slab_take_around(global kma_slab *heap, uint frame, uint size_class,
                                           uint align)
{
    const uint word = frame >> KMA_BIT_TREE_SHIFT;
    uint left = kma_load_u32(&kma_slab_tree(heap, size_class)[word], KMA_RELAXED);
    for (uint visits = 0; left != 0 && visits < KMA_SLAB_VISITS; visits++) {
        const uint bit = kma_slab_pick(left, kma_spread() >> 5);
        const uint listed = (word << KMA_BIT_TREE_SHIFT) + bit;
        const kma_ref block = kma_slab_claim_in_frame(heap, listed, size_class, align);
        if (block != KMA_NULL)
            return block;
        kma_slab_unlist(heap, size_class, listed);
        left &= ~(1u << bit);
    }
    return KMA_NULL;
}

// Takes a slot of a class anywhere. KMA_NULL if none is, or no aligned one in so many frames.
static inline KMA_COLD kma_ref kma_slab_reuse(global kma_slab *heap, uint size_class, uint align)
{
    uint from = kma_slab_home(heap, size_class);
    bool again = from != 0; // for the frames in front of it

    for (uint looks = KMA_SLAB_ALIGNED_LOOKS; looks != 0;) { // each time a listing goes
        const uint frame = align == 1 ? kma_slab_find(heap, size_class, from)
                                      : kma_slab_next(heap, size_class, from);
        if (frame == KMA_BIT_TREE_NONE) {
            if (align == 1 || !again)
                return KMA_NULL;
            again = false;
            from = 0;
            continue;
        }
        const kma_ref block = kma_slab_claim_in_frame(heap, frame, size_class, align);
        if (block != KMA_NULL)
            return block;
        kma_slab_unlist(heap, size_class, frame);
        if (align != 1) {
            from = frame + 1;
            looks--;
        }
    }
    return KMA_NULL;
}

// A slab in lines of its own, the first slot the caller's, `align` units aligned: of as many slots
// as a warp takes for a class with pages, or of one. KMA_NULL if there are no lines.
static inline KMA_COLD kma_ref kma_slab_new_slab(global kma_slab *heap, uint size_class, uint align)
{
    const uint units = kma_slab_units(size_class);
    const uint align_lines = align > KMA_SLAB_LINE_UNITS ? align >> KMA_SLAB_LINE_SHIFT : 1;
    const uint near = kma_slab_home(heap, size_class);
    uint shift = size_class < KMA_SLAB_PAGE_CLASSES ? kma_slab_shift(units) : 0;
    uint line = kma_slab_take_lines(heap, kma_slab_whole_lines(units << shift), align_lines, near);
    if (line == KMA_SLAB_NONE && shift != 0) {
        shift = 0;
        line = kma_slab_take_lines(heap, kma_slab_whole_lines(units), align_lines, near);
    }
    if (line == KMA_SLAB_NONE)
        return KMA_NULL;
    for (uint slot = 1; slot < 1u << shift; slot++) {
        const uint back = slot * units >> KMA_SLAB_LINE_SHIFT;
        kma_store_u32(kma_slab_word(heap, line + back), kma_slab_rest_word(back, shift),
                      KMA_RELAXED);
    }
    const uint word = kma_slab_equal_word(size_class, shift) & ~KMA_SLAB_OCCUPANCY;
    kma_store_u32(kma_slab_word(heap, line), word | 1, KMA_RELEASE); // pairs with claims
    if (shift != 0)
        kma_slab_put(heap, size_class, line >> KMA_SLAB_FRAME_SHIFT);
    return kma_slab_ref(heap, line, 0);
}

// Clears `listed` in all words of a page, which is out of the tree: a lane that empties one later
// lists it. The words show what lanes freed that found the bit set. Returns the first line's word.
static inline uint kma_slab_clear_listed(global kma_slab *heap, uint frame)
{
    uint word = 0;
    KMA_UNROLL(1)
    for (uint i = KMA_SLAB_FRAME_LINES; i-- != 0;) { // 32 times
        global kma_atomic_u32 *const at = kma_slab_word(heap, (frame << KMA_SLAB_FRAME_SHIFT) + i);
        word = kma_load_u32(at, KMA_RELAXED);
        // Again if another lane changed the word.
        while ((word & (KMA_SLAB_FORM | KMA_SLAB_LISTED)) == (KMA_SLAB_PAGE | KMA_SLAB_LISTED)) {
            const uint before = kma_cas_u32(at, word, word & ~KMA_SLAB_LISTED, KMA_RELAXED);
            word = before == word ? word & ~KMA_SLAB_LISTED : before;
        }
    }
    return word;
}

// Ends pages without blocks. True if one ended.
static inline KMA_COLD bool kma_slab_end_empty(global kma_slab *heap)
{
    for (;;) { // each time a listing goes
        const uint frame = kma_slab_find(heap, KMA_SLAB_EMPTY_TREE, 0);
        if (frame == KMA_BIT_TREE_NONE)
            return false;
        kma_slab_take_out(heap, KMA_SLAB_EMPTY_TREE, frame);
        const uint word = kma_slab_clear_listed(heap, frame);
        if ((word & KMA_SLAB_FORM) == KMA_SLAB_PAGE &&
            kma_slab_end_page(heap, frame, kma_slab_page_class(word)))
            return true;
    }
}

// Takes a slot of a larger class, up to `last`, the smallest first.
static inline KMA_COLD kma_ref kma_slab_take_larger(global kma_slab *heap, uint size_class,
                                                    uint last, uint align)
{
    ulong filled = kma_slab_filled(heap, size_class + 1, last + 1);
    for (; filled != 0; filled &= filled - 1) { // a class each time
        const kma_ref block = kma_slab_reuse(heap, size_class + 1 + kma_lowest_bit(filled), align);
        if (block != KMA_NULL)
            return block;
    }
    return KMA_NULL;
}

// For a class with pages: a slot nearby, of a new page nearby or anywhere, of any page or slab; in
// a heap without pages of a new slab.
static inline KMA_COLD kma_ref kma_slab_refill(global kma_slab *heap, uint size_class, uint align)
{
    const uint hint = kma_load_u32(kma_slab_current(heap, size_class), KMA_RELAXED);
    const uint near = hint != KMA_SLAB_NONE ? (hint & ~KMA_SLAB_BUSY) >> KMA_SLAB_FRAME_SHIFT
                                            : kma_slab_home(heap, size_class);
    const bool has_pages = heap->plan.frames >= KMA_SLAB_PAGED;
    kma_ref block = KMA_NULL;
    if (KMA_IS_CPU || !has_pages ||
        kma_load_u32(kma_slab_whole(heap, near >> KMA_BIT_TREE_SHIFT), KMA_RELAXED) == 0)
        block = kma_slab_take_around(heap, near, size_class, align);
    if (block != KMA_NULL)
        return block;
    const uint line =
        has_pages ? kma_slab_take_lines(heap, KMA_SLAB_FRAME_LINES, 1, near) : KMA_SLAB_NONE;
    if (line != KMA_SLAB_NONE) {
        block = kma_slab_new_page(heap, line >> KMA_SLAB_FRAME_SHIFT, size_class);
        // A full page leaves the tree: behind the new one, for which others wait.
        if (kma_bit_tree_has(kma_slab_tree(heap, size_class), near) &&
            kma_slab_candidates(heap, near, size_class) == 0)
            kma_slab_unlist(heap, size_class, near);
        return block;
    }
    block = kma_slab_reuse(heap, size_class, align);
    return block != KMA_NULL || has_pages ? block : kma_slab_new_slab(heap, size_class, align);
}

// kma_slab_take_near, called.
static inline KMA_COLD kma_ref kma_slab_take_near_again(global kma_slab *heap, uint size_class)
{
    return kma_slab_take_near(heap, size_class);
}

// kma_slab_refill by one lane of a shard at a time, or by those that have waited long enough: a
// lane that is stopped does not keep others.
static inline kma_ref kma_slab_refill_in_turn(global kma_slab *heap, uint size_class, uint align)
{
    global kma_atomic_u32 *const current = kma_slab_current(heap, size_class);
    kma_ref block = KMA_NULL;
    uint mine = KMA_SLAB_NONE; // what the caller made of the word
    for (uint looks = 0; looks < KMA_SLAB_PATIENCE && mine == KMA_SLAB_NONE; looks++) {
        if (looks != 0)
            kma_pause(500);
        const uint seen = kma_load_u32(current, KMA_RELAXED);
        const bool is_busy = seen != KMA_SLAB_NONE && (seen & KMA_SLAB_BUSY) != 0;
        const uint line =
            seen != KMA_SLAB_NONE ? seen : kma_slab_home(heap, size_class) << KMA_SLAB_FRAME_SHIFT;
        if (!is_busy && kma_cas_u32(current, seen, line | KMA_SLAB_BUSY, KMA_RELAXED) == seen)
            mine = line | KMA_SLAB_BUSY;
        if (looks != 0) // another lane may have brought it
            block = kma_slab_take_near_again(heap, size_class);
        if (block != KMA_NULL)
            break;
    }
    if (block == KMA_NULL)
        block = kma_slab_refill(heap, size_class, align);
    if (mine != KMA_SLAB_NONE) // unless the refill stored another line
        kma_cas_u32(current, mine, mine & ~KMA_SLAB_BUSY, KMA_RELAXED);
    return block;
}

// A slot of the class, or a new page or slab of it.
static inline kma_ref kma_slab_take_own(global kma_slab *heap, uint size_class, uint align)
{
    if (size_class < KMA_SLAB_PAGE_CLASSES)
        return kma_slab_refill(heap, size_class, align);
    const kma_ref block = kma_slab_reuse(heap, size_class, align);
    return block != KMA_NULL ? block : kma_slab_new_slab(heap, size_class, align);
}

// Whatever memory there is for a block of the class: pages without blocks end; a slot that is at
// most half larger; lines; a slot of any size.
static inline KMA_COLD kma_ref kma_slab_take_exhausted(global kma_slab *heap, uint size_class,
                                                       uint align)
{
    const uint near = min(size_class + 4, KMA_SLAB_CLASSES - 1);
    kma_ref block = KMA_NULL;
    while (block == KMA_NULL && kma_slab_end_empty(heap)) // each time a page ends
        block = kma_slab_take_own(heap, size_class, align);
    if (block == KMA_NULL)
        block = kma_slab_take_larger(heap, size_class, near, align);
    if (block == KMA_NULL && size_class < KMA_SLAB_PAGE_CLASSES)
        block = kma_slab_new_slab(heap, size_class, align);
    if (block == KMA_NULL)
        block = kma_slab_take_larger(heap, near, KMA_SLAB_CLASSES - 1, align);
    return block;
}

// A block of the class by any way there is; `is_last`: larger slots, too. Of lanes that come
// together with one class, the first one refills, and the others look at what is current then.
static inline KMA_COLD kma_ref kma_slab_take_elsewhere(global kma_slab *heap, uint size_class,
                                                       uint align, bool is_last)
{
    kma_ref block = KMA_NULL;
    if (size_class < KMA_SLAB_PAGE_CLASSES) {
        if (KMA_DEBUG >= 2 || align > 1) // the caller has not looked
            block = kma_slab_take_near_again(heap, size_class);
        // Each time one lane of each class is served.
        for (uint round = 0; round < 64 && block == KMA_NULL; round++) {
            const kma_lanes group = kma_lanes_active();
            const kma_lanes same = kma_lanes_match(group, size_class, 6);
            const bool leads = kma_lane_leads(same);
            if (leads)
                block = kma_slab_refill_in_turn(heap, size_class, align);
            const kma_lanes failed = kma_lanes_ballot(group, leads && block == KMA_NULL);
            kma_lanes_sync(group); // what the leader stored, the others load
            if ((failed & same) != 0)
                break;
            if (block == KMA_NULL)
                block = kma_slab_take_near_again(heap, size_class);
        }
    } else {
        block = kma_slab_take_own(heap, size_class, align);
    }
    if (block == KMA_NULL && is_last)
        block = kma_slab_take_exhausted(heap, size_class, align);
    return block;
}

#endif
