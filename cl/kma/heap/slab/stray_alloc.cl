// Malloc by lanes each for itself, after kma_slab_take_near found no slot (pages.cl, steps 1 to 4).
// Lanes that have not called it do so here first if their class has pages: lanes of a whole warp
// without a slot, lanes with an alignment above 16, and all lanes with KMA_DEBUG 2 and 3.
//
// Of the lanes that are here together with one class, the first one refills; the others then call
// kma_slab_take_near again (kma_slab_take_elsewhere). For a class with pages (up to 1 KiB):
//
// 1. Turn: compare-and-swap `busy` into the current line (relaxed: it protects no data). If another
//    lane has the turn: pause 0.5 us, try again, look for a slot as in pages.cl; after 32 tries
//    refill without the turn. It keeps the lanes of a shard from making a page each.
// 2. Nearby: claim a slot in up to three listed frames around the current one. On a GPU only if
//    none of the 32 frames there is whole. A frame without a slot is unlisted.
// 3. New page: find a whole frame: load the root of the tree of whole frames (acquire), then one
//    word for each level (relaxed). Claim it by `cas(used, 0, all)` (acquire: pairs with the
//    release of the frame's last owner). Take it out of the tree, and check again (lines.cl).
// 4. Make the page: 32 stores of form and class, `ending` (relaxed); a release fence; 32 stores
//    with the free slots, the first one taken (relaxed; the fence pairs with claims); fetch_or into
//    the class tree (release: a search that finds the frame finds the page); store of the current
//    line (relaxed: a hint). The former current page leaves the tree if it is full.
// 5. No whole frame: claim a slot in any frame of the class tree.
// 6. End of the turn: compare-and-swap `busy` away (relaxed). Fails if a lane stored a current line
//    meanwhile: this lane in steps 2 to 5, or any lane that found a slot. Such a store ends the
//    turn, too: it clears `busy`.
//
// A class above 1 KiB: step 5, else a slab of one slot in lines of its own. A heap of fewer than 64
// frames makes slabs instead of pages.
//
// Nothing found (kma_slab_take_exhausted): end pages without blocks, with a try after each; a slot
// of one of the next four classes; lines for a slab; a slot of any larger class.
#ifndef KMA_HEAP_SLAB_STRAY_ALLOC_CL
#define KMA_HEAP_SLAB_STRAY_ALLOC_CL

#include "kma/heap/slab/release.cl"
#include "kma/platform/pause.cl"

// Claims a slot in one of up to KMA_SLAB_VISITS listed frames among the 32 around `frame`. Unlists
// each visited frame that has no free slot. KMA_NULL if none was found. Acquires.
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

// Claims a slot of the class in any listed frame, from the shard's home on. A visited frame without
// such a slot is taken out of the tree, and put back if it has a free slot, aligned or not. With
// `align` above 1 visits KMA_SLAB_ALIGNED_LOOKS frames at most. KMA_NULL if none was found.
// Acquires.
static inline KMA_COLD kma_ref kma_slab_reuse(global kma_slab *heap, uint size_class, uint align)
{
    uint from = kma_slab_home(heap, size_class);
    bool again = from != 0; // the frames before it are still to be searched

    for (uint looks = KMA_SLAB_ALIGNED_LOOKS; looks != 0;) { // each round unlists a frame
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

// Makes a slab in lines of its own; returns its first slot, `align` units aligned, which is the
// caller's. A class with pages gets as many slots as a warp's slab if lines allow, else one.
// KMA_NULL if there are no lines. Releases: pairs with claims of the other slots.
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

// Clears `listed` in all words of a page that the caller took out of the empty tree: a lane that
// frees a word's last block from now on lists the page. Returns the first line's word. Relaxed:
// each compare-and-swap sees the frees that found the bit set.
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

// Ends one page without blocks, found by the empty tree. False if the tree is empty.
static inline KMA_COLD bool kma_slab_end_empty(global kma_slab *heap)
{
    for (;;) { // each round takes one frame out of the tree
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

// Claims a slot of a class above `size_class`, up to `last`, the smallest class first. KMA_NULL if
// none was found. Acquires.
static inline KMA_COLD kma_ref kma_slab_take_larger(global kma_slab *heap, uint size_class,
                                                    uint last, uint align)
{
    ulong filled = kma_slab_filled(heap, size_class + 1, last + 1);
    for (; filled != 0; filled &= filled - 1) { // a class each round
        const kma_ref block = kma_slab_reuse(heap, size_class + 1 + kma_lowest_bit(filled), align);
        if (block != KMA_NULL)
            return block;
    }
    return KMA_NULL;
}

// Steps 2 to 5 of the file's head, for a class with pages: a slot nearby, of a new page, or of any
// listed frame; in a heap without pages of a new slab. KMA_NULL if there is none. Acquires.
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
        // The former current page leaves the tree if it is full. After the new page is listed:
        // other lanes look for that one.
        if (kma_bit_tree_has(kma_slab_tree(heap, size_class), near) &&
            kma_slab_candidates(heap, near, size_class) == 0)
            kma_slab_unlist(heap, size_class, near);
        return block;
    }
    block = kma_slab_reuse(heap, size_class, align);
    return block != KMA_NULL || has_pages ? block : kma_slab_new_slab(heap, size_class, align);
}

// kma_slab_take_near, not inlined.
static inline KMA_COLD kma_ref kma_slab_take_near_again(global kma_slab *heap, uint size_class)
{
    return kma_slab_take_near(heap, size_class);
}

// kma_slab_refill with the turn of the shard and class (steps 1 and 6), or without it after
// KMA_SLAB_PATIENCE tries: a stopped lane does not stop others. KMA_NULL if there is no slot.
// Acquires.
static inline kma_ref kma_slab_refill_in_turn(global kma_slab *heap, uint size_class, uint align)
{
    global kma_atomic_u32 *const current = kma_slab_current(heap, size_class);
    kma_ref block = KMA_NULL;
    uint mine = KMA_SLAB_NONE; // the current line with the caller's `busy`
    for (uint looks = 0; looks < KMA_SLAB_PATIENCE && mine == KMA_SLAB_NONE; looks++) {
        if (looks != 0)
            kma_pause(500);
        const uint seen = kma_load_u32(current, KMA_RELAXED);
        const bool is_busy = seen != KMA_SLAB_NONE && (seen & KMA_SLAB_BUSY) != 0;
        const uint line =
            seen != KMA_SLAB_NONE ? seen : kma_slab_home(heap, size_class) << KMA_SLAB_FRAME_SHIFT;
        if (!is_busy && kma_cas_u32(current, seen, line | KMA_SLAB_BUSY, KMA_RELAXED) == seen)
            mine = line | KMA_SLAB_BUSY;
        if (looks != 0) // another lane may have refilled
            block = kma_slab_take_near_again(heap, size_class);
        if (block != KMA_NULL)
            break;
    }
    if (block == KMA_NULL)
        block = kma_slab_refill(heap, size_class, align);
    if (mine != KMA_SLAB_NONE) // fails if a lane stored a current line meanwhile
        kma_cas_u32(current, mine, mine & ~KMA_SLAB_BUSY, KMA_RELAXED);
    return block;
}

// Claims a slot of the class, or makes a page or slab of it. KMA_NULL if there is no memory.
// Acquires.
static inline kma_ref kma_slab_take_own(global kma_slab *heap, uint size_class, uint align)
{
    if (size_class < KMA_SLAB_PAGE_CLASSES)
        return kma_slab_refill(heap, size_class, align);
    const kma_ref block = kma_slab_reuse(heap, size_class, align);
    return block != KMA_NULL ? block : kma_slab_new_slab(heap, size_class, align);
}

// The last resort for a class: end pages without blocks, then a slot of one of the next four
// classes, then lines for a slab, then a slot of any larger class. KMA_NULL if there is none.
// Acquires.
static inline KMA_COLD kma_ref kma_slab_take_exhausted(global kma_slab *heap, uint size_class,
                                                       uint align)
{
    const uint near = min(size_class + 4, KMA_SLAB_CLASSES - 1);
    kma_ref block = KMA_NULL;
    while (block == KMA_NULL && kma_slab_end_empty(heap)) // each round ends a page
        block = kma_slab_take_own(heap, size_class, align);
    if (block == KMA_NULL)
        block = kma_slab_take_larger(heap, size_class, near, align);
    if (block == KMA_NULL && size_class < KMA_SLAB_PAGE_CLASSES)
        block = kma_slab_new_slab(heap, size_class, align);
    if (block == KMA_NULL)
        block = kma_slab_take_larger(heap, near, KMA_SLAB_CLASSES - 1, align);
    return block;
}

// Claims a block of the class by any way, first near the caller unless it `has_looked` there;
// `is_last`: a larger slot, too. Of lanes that are here together with one class, the first one
// refills; the others then look near the current line. KMA_NULL if there is none. Any lane,
// converged or not. Acquires.
static inline KMA_COLD kma_ref kma_slab_take_elsewhere(global kma_slab *heap, uint size_class,
                                                       uint align, bool has_looked,
                                                       bool is_last)
{
    kma_ref block = KMA_NULL;
    if (size_class < KMA_SLAB_PAGE_CLASSES) {
        if (!has_looked)
            block = kma_slab_take_near_again(heap, size_class);
        // In each round the first lane of each class gets a slot, or its class gives up.
        for (uint round = 0; round < 64 && block == KMA_NULL; round++) {
            const kma_lanes group = kma_lanes_active();
            const kma_lanes same = kma_lanes_match(group, size_class, 6);
            const bool leads = kma_lane_leads(same);
            if (leads)
                block = kma_slab_refill_in_turn(heap, size_class, align);
            const kma_lanes failed = kma_lanes_ballot(group, leads && block == KMA_NULL);
            kma_lanes_sync(group); // the leader's stores come before the others' loads
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
