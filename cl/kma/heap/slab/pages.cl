// Pages: frames with slots of one class. Malloc by a lane that is not in a whole warp begins here.
//
// A line word of a page has its form, class, `ending`, `listed` and occupancy bits in one word. A
// slot is claimed by a compare-and-swap from the word that the lane judged. If the page ended in
// between, the word differs and the claim fails; if a new page of that class has an equal word, the
// slot is free there, and the claim is valid. A slot is freed by a fetch_and of its bit.
//
// Malloc of a lone lane on a GPU, for a class with pages (kma_slab_take_near):
//
// 1. Load the current line of the lane's shard and class (relaxed: a hint, any value is valid).
// 2. Load four line words of that page, chosen by the work-item's number (relaxed: step 3 judges
//    them). Lanes of a warp that are here together, more than four, begin with step 4.
// 3. Compare-and-swap a word from the loaded value to one with the slot's bit (acquire: pairs with
//    the release of the slot's last free, or of the page's creation). Again if another lane changed
//    the word.
// 4. No slot: load the class tree's word for the 32 frames around (relaxed: a hint). Steps 2 and 3
//    in a listed frame, up to six times. A slot found in the second frame or a later one makes that
//    frame current (relaxed store).
// 5. No slot: slab/stray_alloc.cl goes on.
//
// On a CPU: the current line; up to four single words from it on, each with step 3; then a relaxed
// store of the next line. The thread's work-items then take slots side by side.
//
// Invariant: a living page or slab with a free slot of a class has its frame in the class tree, or
// a work-item is about to put it there. A lane that frees a slot of a page's full word loads the
// tree and puts the frame there if it is missing. A lane that frees a slot of a full or a mixed
// slab puts the frame without a load. A lane that meets a listed frame without free slots takes it
// out and checks again (kma_slab_unlist). As in lines.cl, one of the two sees the other.
//
// A page ends when a lane frees its last block while whole frames are scarce, or when a lane finds
// no memory. The ending lane compare-and-swaps each word from `no block` to `ending`. If one has a
// block, it restores all.
//
// Invariant: a page without blocks is in the empty tree, or a work-item is about to end it or to
// put it there. A lane that frees the last block of a word with `listed` does nothing more. A lane
// that takes the frame out of the tree clears `listed` in its words by compare-and-swaps, then
// looks at them: it sees all earlier frees; a lane that frees a block later finds the bit clear,
// and lists the frame.
#ifndef KMA_HEAP_SLAB_PAGES_CL
#define KMA_HEAP_SLAB_PAGES_CL

#include "kma/heap/slab/slots.cl"
#include "kma/platform/lanes.cl"

static inline uint kma_slab_shard(global kma_slab *heap)
{
#if KMA_IS_NV
    return kma_near_place() >> 2 & (heap->plan.shards - 1);
#else
    return kma_place() & (heap->plan.shards - 1);
#endif
}

#define KMA_SLAB_BUSY 0x40000000u // with a current line: a lane has the turn to refill

// The current line of the caller's shard for a class: where its lanes look for a slot first.
static inline global kma_atomic_u32 *kma_slab_current(global kma_slab *heap, uint size_class)
{
    const uint shard = kma_slab_shard(heap);
    return kma_slab_at(heap, heap->plan.current) + size_class * heap->plan.shards + shard;
}

// The frame where a shard begins its searches for a class; each class has another one.
static inline uint kma_slab_home(global kma_slab *heap, uint size_class)
{
    const uint its = max(heap->plan.frames / heap->plan.shards, 1u); // frames
    return (its * kma_slab_shard(heap) + (size_class << KMA_BIT_TREE_SHIFT) % its) %
           heap->plan.frames;
}

// ------ claims -----------------------------------------------------------------------------------

// The free slots of a line word, a bit each: 0 unless it is of a page of the class that is not
// `ending`.
static inline uint kma_slab_free_slots(uint word, uint size_class)
{
    const bool is_its = (word & ~KMA_SLAB_LISTED) >> 20 == (KMA_SLAB_PAGE >> 20 | size_class << 4);
    return is_its ? ~word & kma_slab_page_slots(word) : 0;
}

// Claims a slot of a page by its line word, which was loaded as `word`. KMA_NULL if the word has no
// free slot of the class. Acquires: pairs with the slot's last free and the page's creation.
static inline kma_ref kma_slab_claim_page_slot(global kma_slab *heap, uint line, uint word,
                                               uint size_class)
{
    for (;;) { // again if another lane changed the word
        const uint slots = kma_slab_free_slots(word, size_class);
        if (slots == 0)
            return KMA_NULL;
        const uint bit = slots & (0u - slots);
        const uint before = kma_cas_u32(kma_slab_word(heap, line), word, word | bit, KMA_ACQUIRE);
        if (before == word) {
            const uint units = kma_slab_units(size_class);
            const uint slot =
                (kma_lowest_bit(bit) << kma_slab_page_shift(units)) + line % KMA_SLAB_FRAME_LINES;
            return kma_slab_ref(heap, line - line % KMA_SLAB_FRAME_LINES, slot * units);
        }
        word = before;
    }
}

// Returns the number of one of the bits, which are not 0: the first one from bit `turn` on, cyclic.
static inline uint kma_slab_pick(uint bits, uint turn)
{
    const uint ahead = bits & ~(uint)kma_bits_below(turn % 32);
    return kma_lowest_bit(ahead != 0 ? ahead : bits);
}

#define KMA_SLAB_CROWD 4u // more lanes than this together skip the current page

// Claims a slot of the current page or, on GPUs, of a listed frame among the 32 around it: steps 1
// to 4 of the file's head. KMA_NULL if the lane found none. Any lane, converged or not. Acquires.
//
// A CPU's thread runs its work-items one after the other: they take slots side by side. Lanes of a
// GPU spread: each loads another four line words, each warp visits other frames.
static inline kma_ref kma_slab_take_near(global kma_slab *heap, uint size_class)
{
    global kma_atomic_u32 *const current = kma_slab_current(heap, size_class);
    const uint seen = kma_load_u32(current, KMA_RELAXED);
    if (seen == KMA_SLAB_NONE)
        return KMA_NULL;
    const uint hint = seen & ~KMA_SLAB_BUSY;
    const uint last = (1u << kma_slab_page_shift(kma_slab_units(size_class))) - 1;
#if KMA_IS_CPU
    const uint first = hint & ~(KMA_SLAB_FRAME_LINES - 1);
    for (uint tried = 0; tried < 4; tried++) {
        const uint line = first + ((hint + tried) & last);
        const uint word = kma_load_u32(kma_slab_word(heap, line), KMA_RELAXED);
        const kma_ref block = kma_slab_claim_page_slot(heap, line, word, size_class);
        if (block != KMA_NULL) {
            kma_store_u32(current, first + ((line + 1) & last), KMA_RELAXED);
            return block;
        }
    }
#else
    const uint me = (uint)get_global_id(0);
    const uint word = hint >> (KMA_SLAB_FRAME_SHIFT + KMA_BIT_TREE_SHIFT);
    uint frame = hint >> KMA_SLAB_FRAME_SHIFT;
    uint listed = 0;
    uint tried = kma_lanes_count(kma_lanes_active()) > KMA_SLAB_CROWD ? 1 : 0;
    KMA_UNROLL(1)
    for (; tried <= KMA_SLAB_TRIES; tried++) {
        if (tried != 0) {
            if (listed == 0)
                listed = kma_load_u32(&kma_slab_tree(heap, size_class)[word], KMA_RELAXED);
            if (listed == 0)
                return KMA_NULL;
            frame = (word << KMA_BIT_TREE_SHIFT) + kma_slab_pick(listed, me / 32 * 7 + tried * 11);
        }
        const uint index = (me + (me >> 5) * 4 + tried * 12) & last;
        const uint first = (frame << KMA_SLAB_FRAME_SHIFT) + (index & ~3u);
        const kma_four_u32 four = kma_load_four_u32(kma_slab_word(heap, first));
        uint rooms = 0; // words with a free slot, a bit each; twice, for a cyclic shift
        for (uint i = 0; i < 4; i++)
            rooms |= kma_slab_free_slots(four.w[i], size_class) != 0 ? 0x11u << i : 0;
        if (rooms == 0)
            continue;
        const uint at = (kma_lowest_bit(rooms >> (index & 3)) + (index & 3)) & 3;
        const uint found = at < 2    ? at == 0 ? four.w[0] : four.w[1]
                              : at == 2 ? four.w[2]
                                     : four.w[3];
        const kma_ref block = kma_slab_claim_page_slot(heap, first + at, found, size_class);
        if (block == KMA_NULL)
            continue;
        if (tried > 1)
            kma_store_u32(current, frame << KMA_SLAB_FRAME_SHIFT, KMA_RELAXED);
        return block;
    }
#endif
    return KMA_NULL;
}

// ------ a page's begin and end -------------------------------------------------------------------

// Makes a page of a frame that the caller claimed, lists it, and makes it current. Returns its
// first slot, which is the caller's. Releases: pairs with the acquire of claims.
static inline KMA_COLD kma_ref kma_slab_new_page(global kma_slab *heap, uint frame, uint size_class)
{
    const uint first = frame << KMA_SLAB_FRAME_SHIFT;
    // First the form and class of all words: a free finds them wherever its block begins. `ending`
    // keeps claims off. Then, after the fence, the words with free slots: a claim, which acquires,
    // comes after all forms, and after the uses by the frame's last owner.
    KMA_UNROLL(1)
    for (uint i = 0; i < KMA_SLAB_FRAME_LINES; i++)
        kma_store_u32(kma_slab_word(heap, first + i),
                      kma_slab_page_word(size_class, i) | KMA_SLAB_ENDING, KMA_RELAXED);
    kma_fence(KMA_RELEASE);
    KMA_UNROLL(1)
    for (uint i = 0; i < KMA_SLAB_FRAME_LINES; i++)
        kma_store_u32(kma_slab_word(heap, first + i),
                      kma_slab_page_word(size_class, i) | (i == 0 ? 1 : 0), KMA_RELAXED);
    kma_slab_put(heap, size_class, frame);
    kma_store_u32(kma_slab_current(heap, size_class), first + KMA_IS_CPU, KMA_RELAXED);
    return kma_slab_ref(heap, first, 0);
}

// Ends a page without blocks and gives its frame back. False if it has a block, or another lane
// ends it.
static inline KMA_COLD bool kma_slab_end_page(global kma_slab *heap, uint frame, uint size_class)
{
    const uint first = frame << KMA_SLAB_FRAME_SHIFT;
    const uint words = 1u << kma_slab_page_shift(kma_slab_units(size_class));
    bool is_empty = true;
    KMA_UNROLL(1)
    for (uint i = 0; i < words && is_empty; i += 4) { // 8 times at most
        const kma_four_u32 four = kma_load_four_u32(kma_slab_word(heap, first + i));
        for (uint j = 0; j < 4; j++)
            is_empty &= (four.w[j] & ~KMA_SLAB_LISTED) == kma_slab_page_word(size_class, i + j);
    }
    if (!is_empty)
        return false;
    uint mine = 0; // words that the caller ended, up to the first failure
    KMA_UNROLL(1)
    for (uint i = 0; i < words && mine == (uint)kma_bits_below(i); i++) {
        global kma_atomic_u32 *const word = kma_slab_word(heap, first + i);
        const uint seen = kma_load_u32(word, KMA_RELAXED);
        if ((seen & ~KMA_SLAB_LISTED) == kma_slab_page_word(size_class, i) &&
            kma_cas_u32(word, seen, seen | KMA_SLAB_ENDING, KMA_ACQUIRE) == seen)
            mine |= 1u << i; // acquire: the frees come before the page's end, or its next claims
    }
    if (mine != (uint)kma_bits_below(words)) {
        for (uint left = mine; left != 0; left &= left - 1) { // no lane claims an `ending` word
            const uint i = kma_lowest_bit(left);
            kma_store_u32(kma_slab_word(heap, first + i), kma_slab_page_word(size_class, i),
                          KMA_RELEASE);
        }
        // While the words were `ending`, another lane may have unlisted the page. Or the block that
        // stopped the caller is freed by now, and a search took the page out of the empty tree,
        // but failed at the caller's words: an empty page in no tree.
        kma_slab_put(heap, size_class, frame);
        kma_slab_put(heap, KMA_SLAB_EMPTY_TREE, frame);
        return false;
    }
    kma_slab_take_out(heap, size_class, frame);
    if (kma_bit_tree_has(kma_slab_tree(heap, KMA_SLAB_EMPTY_TREE), frame))
        kma_slab_take_out(heap, KMA_SLAB_EMPTY_TREE, frame);
    KMA_UNROLL(1)
    for (uint i = 0; i < KMA_SLAB_FRAME_LINES; i++)
        kma_store_u32(kma_slab_word(heap, first + i), 0, KMA_RELAXED);
    kma_slab_undo(heap, frame, KMA_SLAB_FULL);
    return true;
}

// After the free of a word's last block: ends the page if whole frames are scarce around and it has
// no block, else lists it in the empty tree. A listed page stays: keeping it costs less than ending
// one and beginning another. `word` is the line word as the caller's free left it.
static inline KMA_COLD void kma_slab_page_may_be_empty(global kma_slab *heap, uint line, uint word)
{
    const uint frame = line >> KMA_SLAB_FRAME_SHIFT;
    global kma_atomic_u32 *const whole = kma_slab_whole(heap, frame >> KMA_BIT_TREE_SHIFT);
    if ((uint)popcount(kma_load_u32(whole, KMA_RELAXED)) < KMA_SLAB_SPARE &&
        !kma_bit_tree_has(kma_slab_tree(heap, KMA_SLAB_EMPTY_TREE), frame) &&
        kma_slab_end_page(heap, frame, kma_slab_page_class(word)))
        return;
    // Fails if another lane claimed a slot of the word, and will free it here; or ends the page.
    if (kma_cas_u32(kma_slab_word(heap, line), word, word | KMA_SLAB_LISTED, KMA_RELAXED) == word)
        kma_slab_put(heap, KMA_SLAB_EMPTY_TREE, frame);
}

// ------ searches in a class's tree ---------------------------------------------------------------

// Returns the free slots of a slab that are of the class and at multiples of `align` units, a bit
// each. `word` is the slab's first word as loaded. A hint for mixed slabs: their planes may be
// another slab's.
static inline KMA_COLD uint kma_slab_slab_slots(global kma_slab *heap, uint line, uint word,
                                                uint size_class, uint align)
{
    uint slots = ~word & kma_slab_slots(word);
    const uint from = line << KMA_SLAB_LINE_SHIFT;
    if (kma_slab_is_equal(word)) {
        if (kma_slab_equal_class(word) != size_class)
            return 0;
        for (uint left = align > 1 ? slots : 0; left != 0; left &= left - 1)
            if (((from + kma_lowest_bit(left) * kma_slab_units(size_class)) & (align - 1)) != 0)
                slots &= ~(left & (0u - left));
        return slots;
    }
    if (!kma_slab_is_mixed(word))
        return 0;
    const kma_slab_planes planes = kma_slab_load_planes(heap, line, word);
    for (uint left = slots; left != 0; left &= left - 1) {
        const uint slot = kma_lowest_bit(left);
        if (kma_slab_class_of(kma_slab_mixed_units(&planes, slot)) != size_class ||
            ((from + kma_slab_mixed_offset(&planes, slot)) & (align - 1)) != 0)
            slots &= ~(1u << slot);
    }
    return slots;
}

// Frees a slot of a slab, which the caller owns. Gives the slab's lines back if it was the last
// one; else lists the frame if the slab was full or is mixed. False if the slot was free. Acquires
// and releases.
static inline KMA_COLD bool kma_slab_release_slot_of(global kma_slab *heap, uint line, uint bit,
                                                     uint units)
{
    // Release: pairs with the next claim of the slot. Acquire: the lane that gives the lines back
    // comes after the uses of all slots. No claim succeeds on a word without occupancy.
    const uint before = kma_fetch_and_u32(kma_slab_word(heap, line), ~bit, KMA_ACQ_REL);
    if ((before & bit) == 0)
        return false;
    if ((before & ~bit & KMA_SLAB_OCCUPANCY) == 0)
        kma_slab_give_back(heap, line, kma_slab_lines_of(before));
    else if ((before & KMA_SLAB_MIXED) != 0 ||
             (before & KMA_SLAB_OCCUPANCY) == kma_slab_slots(before))
        kma_slab_put(heap, kma_slab_class_of(units), line >> KMA_SLAB_FRAME_SHIFT);
    return true;
}

// Claims a slot of a slab at a multiple of `align` units. KMA_NULL if it has none of the class.
// Acquires: pairs with the slot's last free and the slab's creation.
static inline kma_ref kma_slab_claim_slab_slot(global kma_slab *heap, uint line, uint size_class,
                                               uint align)
{
    global kma_atomic_u32 *const at = kma_slab_word(heap, line);
    uint word = kma_load_u32(at, KMA_RELAXED);
    for (;;) { // again if another lane changed the word
        const uint slots = kma_slab_slab_slots(heap, line, word, size_class, align);
        if (slots == 0)
            return KMA_NULL;
        const uint bit = slots & (0u - slots);
        const uint before = kma_cas_u32(at, word, word | bit, KMA_ACQUIRE);
        if (before != word) {
            word = before;
            continue;
        }
        if ((word & KMA_SLAB_MIXED) == 0)
            return kma_slab_ref(heap, line, kma_lowest_bit(bit) * kma_slab_units(size_class));
        // Another mixed slab with an equal word and other planes may have begun here before the
        // claim. The claimed bit keeps the slab alive: the planes loaded now are the right ones.
        const kma_slab_planes planes = kma_slab_load_planes(heap, line, word);
        const uint slot = kma_lowest_bit(bit);
        const uint units = kma_slab_mixed_units(&planes, slot);
        const uint offset = kma_slab_mixed_offset(&planes, slot);
        if (kma_slab_class_of(units) == size_class &&
            (((line << KMA_SLAB_LINE_SHIFT) + offset) & (align - 1)) == 0)
            return kma_slab_ref(heap, line, offset);
        kma_slab_release_slot_of(heap, line, bit, units);
        return KMA_NULL;
    }
}

// Returns the line words of a frame that may have a free slot of the class, a bit each. Relaxed.
static inline KMA_COLD uint kma_slab_candidates(global kma_slab *heap, uint frame, uint size_class)
{
    global kma_atomic_u32 *const words = kma_slab_word(heap, frame << KMA_SLAB_FRAME_SHIFT);
    const uint slots_in = 1u << kma_slab_page_shift(kma_slab_units(size_class)); // words of a page
    uint found = 0;
    KMA_UNROLL(2)
    for (uint first = 0; first < KMA_SLAB_FRAME_LINES; first += 4) {
        const kma_four_u32 four = kma_load_four_u32(&words[first]);
        for (uint i = 0; i < 4; i++) {
            const uint word = four.w[i];
            const bool has_hole =
                (word & KMA_SLAB_FORM) == KMA_SLAB_SLAB && (word & KMA_SLAB_OCCUPANCY) != 0 &&
                (~word & kma_slab_slots(word)) != 0 &&
                ((word & KMA_SLAB_MIXED) != 0 || kma_slab_equal_class(word) == size_class);
            if (has_hole || (first + i < slots_in && kma_slab_free_slots(word, size_class) != 0))
                found |= 1u << (first + i);
        }
    }
    return found;
}

// Claims a slot of the class in a frame, of a page or a slab, at a multiple of `align` units.
// KMA_NULL if there is none. Acquires.
static inline KMA_COLD kma_ref kma_slab_claim_in_frame(global kma_slab *heap, uint frame,
                                                       uint size_class, uint align)
{
    const uint first = frame << KMA_SLAB_FRAME_SHIFT;
    // Line words with slots of a page of the class; 0 if the page's slots are not so aligned.
    const uint units = kma_slab_units(size_class);
    const uint words = units % align == 0 ? 1u << kma_slab_page_shift(units) : 0;
    for (uint left = kma_slab_candidates(heap, frame, size_class); left != 0; left &= left - 1) {
        const uint line = first + kma_lowest_bit(left);
        const uint word = kma_load_u32(kma_slab_word(heap, line), KMA_RELAXED);
        kma_ref block = KMA_NULL;
        if ((word & KMA_SLAB_FORM) == KMA_SLAB_PAGE) {
            if (line - first < words)
                block = kma_slab_claim_page_slot(heap, line, word, size_class);
            if (block != KMA_NULL)
                kma_store_u32(kma_slab_current(heap, size_class), line, KMA_RELAXED);
        } else {
            block = kma_slab_claim_slab_slot(heap, line, size_class, align);
        }
        if (block != KMA_NULL)
            return block;
    }
    return KMA_NULL;
}

// Takes a frame that showed no free slot of a class out of the class tree, and puts it back if it
// has one now. The check reads all words by read-modify-writes between fences: a lane that frees a
// slot later sees the frame gone.
static inline KMA_COLD void kma_slab_unlist(global kma_slab *heap, uint size_class, uint frame)
{
    const uint first = frame << KMA_SLAB_FRAME_SHIFT;
    kma_slab_take_out(heap, size_class, frame);
    kma_fence(KMA_RELEASE);
    for (uint i = 0; i < KMA_SLAB_FRAME_LINES; i++) // in flight at once
        kma_fetch_or_u32(kma_slab_word(heap, first + i), 0, KMA_RELAXED);
    kma_fence(KMA_ACQUIRE);
    for (uint left = kma_slab_candidates(heap, frame, size_class); left != 0; left &= left - 1) {
        const uint line = first + kma_lowest_bit(left);
        const uint word = kma_load_u32(kma_slab_word(heap, line), KMA_RELAXED);
        if (kma_slab_free_slots(word, size_class) != 0 ||
            kma_slab_slab_slots(heap, line, word, size_class, 1) != 0) {
            kma_slab_put(heap, size_class, frame);
            return;
        }
    }
}

#endif
