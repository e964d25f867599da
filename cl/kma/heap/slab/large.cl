// Blocks above the largest class (8 KiB): runs of whole frames; the lines after the block are given
// back at once.
//
// A block of up to a group (256 KiB) lies in one group: group trees show which groups have enough
// contiguous whole frames (lines.cl). A larger block lies anywhere: a walk through the tree of
// whole frames finds it.
//
// Frames are claimed by compare-and-swaps of their used words from 0 to all: in a group one after
// the other, above a group eight in flight. A lane that fails gives back the frames that it
// claimed.
#ifndef KMA_HEAP_SLAB_LARGE_CL
#define KMA_HEAP_SLAB_LARGE_CL

#include "kma/heap/slab/lines.cl"
#include "kma/platform/pause.cl"

// The frames of [first, first + count) that are in the group of `first`, a bit each.
static inline uint kma_slab_in_group(uint first, uint count)
{
    const uint at = first & (KMA_SLAB_GROUP_FRAMES - 1);
    return (uint)kma_bits_below(min(count, KMA_SLAB_GROUP_FRAMES - at)) << at;
}

// Gives back whole frames, which the caller owns, and lists them. Releases.
//
// By read-modify-writes, although no other lane changes these words: a lane that took such a frame
// out of a tree meanwhile read its word by a read-modify-write, and later givers must acquire that.
// The frames are put into the trees without a load (lines.cl).
static inline KMA_COLD void kma_slab_give_back_frames(global kma_slab *heap, uint first, uint count)
{
    kma_fence(KMA_RELEASE); // pairs with the acquire of each frame's next claim
    for (uint i = 0; i < count; i++)
        kma_fetch_and_u32(kma_slab_used(heap, first + i), 0, KMA_RELAXED);
    for (uint done = 0; done < count;) { // a group each round
        const uint group = (first + done) >> KMA_BIT_TREE_SHIFT;
        const uint frames = kma_slab_in_group(first + done, count - done);
        kma_bit_tree_put_all(kma_slab_whole(heap, 0), heap->plan.room, group, frames);
        kma_slab_list_group(heap, group);
        done += (uint)popcount(frames);
    }
}

// Claims frames [first, first + count). Returns `count`, or how many frames from `first` on were
// free; then the caller owns none of them. Acquires.
//
// In a group one frame after the other, in ascending order: of lanes that claim overlapping frames,
// the lane that gets the last frame succeeds.
static inline KMA_COLD uint kma_slab_claim_frames(global kma_slab *heap, uint first, uint count)
{
    const uint at_once = count > KMA_SLAB_GROUP_FRAMES ? KMA_SLAB_AT_ONCE : 1;
    uint good = 0;
    for (uint done = 0; good == done; done += at_once) { // until a claim fails or none is left
        global kma_atomic_u32 *const used = kma_slab_used(heap, first + done);
        uint mine = 0; // frames claimed in this round, a bit each
        if (at_once == KMA_SLAB_AT_ONCE && count - done >= KMA_SLAB_AT_ONCE) {
            uint seen[KMA_SLAB_AT_ONCE];
            KMA_UNROLL(8)
            for (uint i = 0; i < KMA_SLAB_AT_ONCE; i++)
                seen[i] = kma_cas_u32(&used[i], 0, KMA_SLAB_FULL, KMA_RELAXED);
            KMA_UNROLL(8)
            for (uint i = 0; i < KMA_SLAB_AT_ONCE; i++)
                mine |= seen[i] == 0 ? 1u << i : 0;
        } else {
            for (uint i = 0; i < at_once && done + i < count; i++)
                mine |= kma_cas_u32(&used[i], 0, KMA_SLAB_FULL, KMA_RELAXED) == 0 ? 1u << i : 0;
        }
        const uint claims = kma_lowest_bit(~mine); // up to the first one that failed
        good += claims;
        for (uint left = mine >> claims << claims; left != 0; left &= left - 1) {
            kma_fence(KMA_ACQUIRE); // its release passes on what the last owner released
            kma_slab_give_back_frames(heap, first + done + kma_lowest_bit(left), 1);
        }
    }
    kma_fence(KMA_ACQUIRE); // pairs with the release of the lane that gave the frames back
    if (good < count)
        kma_slab_give_back_frames(heap, first, good);
    return good;
}

// Claims frames from `first` on for a block of `lines` lines, and stores its word. Counts the
// attempt in *begun and in the heap. KMA_NULL if another lane owns one of the frames. *next becomes
// the frame where a search goes on. Acquires.
static inline KMA_COLD kma_ref kma_slab_claim_run(global kma_slab *heap, uint first, uint lines,
                                                  uint *next, uint *begun)
{
    ++*begun;
    kma_fetch_add_u32(&heap->runs_begun, 1, KMA_ACQUIRE);
    const uint count = (lines + KMA_SLAB_FRAME_LINES - 1) >> KMA_SLAB_FRAME_SHIFT;
    const uint rest = lines & (KMA_SLAB_FRAME_LINES - 1);
    const uint claimed = kma_slab_claim_frames(heap, first, count);
    *next = first + claimed + 1;
    if (claimed < count) {
        kma_slab_relist(heap, KMA_SLAB_FRAME_LINES, first + claimed);
        kma_fetch_add_u32(&heap->runs_ended, 1, KMA_RELEASE);
        return KMA_NULL;
    }
    // The caller owns the frames, so no check follows their removal from the tree.
    for (uint done = 0; done < count;) { // a group each round
        const uint frames = kma_slab_in_group(first + done, count - done);
        kma_bit_tree_take_all(kma_slab_whole(heap, 0), heap->plan.room,
                              (first + done) >> KMA_BIT_TREE_SHIFT, frames);
        done += (uint)popcount(frames);
    }
    if (rest != 0)
        kma_slab_undo(heap, first + count - 1, KMA_SLAB_FULL & ~kma_slab_mask(0, rest));
    const uint line = first << KMA_SLAB_FRAME_SHIFT;
    // Relaxed: the block's owner frees it later, by the order of its own program.
    kma_store_u32(kma_slab_word(heap, line), KMA_SLAB_RUN | lines, KMA_RELAXED);
    kma_fetch_add_u32(&heap->runs_ended, 1, KMA_RELEASE);
    return kma_slab_ref(heap, line, 0);
}

// ------ searches -------------------------------------------------------------------------------

// Takes a block of up to a group, in the group with the shortest run of whole frames that is long
// enough. At a multiple of its frames if that is free: lanes that want blocks of one length then
// claim the same frames or disjoint ones. KMA_NULL if there is no run.
static inline kma_ref kma_slab_take_in_group(global kma_slab *heap, uint lines, uint count,
                                             uint *begun)
{
    const uint own = kma_mix32((uint)kma_linear_global_id()) % heap->plan.frames;
    uint multiples = 0;
    for (uint at = 0; at < KMA_SLAB_GROUP_FRAMES; at += count)
        multiples |= 1u << at;
    for (;;) { // again after a stale listing, or a frame lost to another lane
        const ulong filled = kma_slab_filled(heap, KMA_SLAB_GROUP_TREE(count), KMA_SLAB_EMPTY_TREE);
        if (filled == 0)
            return KMA_NULL;
        const uint run = count + kma_lowest_bit(filled);
        const uint group = kma_slab_find(heap, KMA_SLAB_GROUP_TREE(run), own >> KMA_BIT_TREE_SHIFT);
        if (group == KMA_BIT_TREE_NONE)
            continue;
        const uint begins =
            kma_slab_begins(kma_load_u32(kma_slab_whole(heap, group), KMA_RELAXED), count);
        kma_ref block = KMA_NULL;
        if (begins != 0) {
            const uint at = kma_lowest_bit((begins & multiples) != 0 ? begins & multiples : begins);
            uint next;
            block =
                kma_slab_claim_run(heap, (group << KMA_BIT_TREE_SHIFT) + at, lines, &next, begun);
        }
        kma_slab_relist_group(heap, run, group);
        if (block != KMA_NULL)
            return block;
    }
}

// Returns the first frame from `from` on where `count` frames, more than a group has, are listed as
// whole side by side; KMA_SLAB_NONE if there is none. Relaxed loads: a hint.
static inline uint kma_slab_next_frames(global kma_slab *heap, uint from, uint count)
{
    const uint groups = (heap->plan.frames + KMA_SLAB_GROUP_FRAMES - 1) >> KMA_BIT_TREE_SHIFT;
    const uint every = (uint)kma_bits_below(KMA_SLAB_GROUP_FRAMES);
    uint below = (uint)kma_bits_below(from & (KMA_SLAB_GROUP_FRAMES - 1)); // of the first group
    uint listed = 0; // contiguous whole frames before the next group
    for (uint group = from >> KMA_BIT_TREE_SHIFT; group < groups; group += 8) {
        uint words[8];
        KMA_UNROLL(8)
        for (uint i = 0; i < 8; i++) // in flight at once
            words[i] =
                group + i < groups ? kma_load_u32(kma_slab_whole(heap, group + i), KMA_RELAXED) : 0;
        KMA_UNROLL(8)
        for (uint i = 0; i < 8; i++) {
            const uint busy = (~words[i] & every) | below;
            below = 0;
            const uint low = busy == 0 ? KMA_SLAB_GROUP_FRAMES : kma_lowest_bit(busy);
            if (listed + low >= count)
                return ((group + i) << KMA_BIT_TREE_SHIFT) - listed;
            listed = busy == 0 ? listed + low : KMA_SLAB_GROUP_FRAMES - 1 - kma_highest_bit(busy);
        }
    }
    return KMA_SLAB_NONE;
}

// Takes a block above a group, from frame `from` on, at a multiple of `step` frames. KMA_NULL if
// there is none.
static inline kma_ref kma_slab_take_across(global kma_slab *heap, uint lines, uint count, uint from,
                                           uint step, uint *begun)
{
    for (;;) { // `from` grows in each round
        const uint first = kma_slab_next_frames(heap, from, count);
        if (first == KMA_SLAB_NONE)
            return KMA_NULL;
        from = (first + step - 1) / step * step;
        if (from != first)
            continue;
        const kma_ref block = kma_slab_claim_run(heap, first, lines, &from, begun);
        if (block != KMA_NULL)
            return block;
    }
}

// Searches for one block, at most: in groups; through the whole heap.
#define KMA_SLAB_GROUP_SEARCHES 16u
#define KMA_SLAB_WALKS 4u

// Takes a block of `lines` lines, above the largest class. KMA_NULL if no run is long enough.
// Acquires.
//
// A lane hides the frames that it claims and may give back. A search that found nothing proves that
// nothing fits only if no other lane's attempt was under way: runs_begun equal to runs_ended before
// it, and grown only by the lane's own attempts since. Otherwise the lane searches again.
//
// Above a group the first walk begins at a position that differs from lane to lane. It and the
// second one try multiples of the block's frames: blocks of one length lie side by side.
static inline KMA_COLD kma_ref kma_slab_take_run(global kma_slab *heap, uint lines)
{
    const uint count = (lines + KMA_SLAB_FRAME_LINES - 1) >> KMA_SLAB_FRAME_SHIFT;
    const uint places = max(heap->plan.frames / count, 1u);
    uint from = kma_mix32((uint)kma_linear_global_id()) % places * count;
    uint step = count > KMA_SLAB_GROUP_FRAMES ? count : 1;
    const uint most = count > KMA_SLAB_GROUP_FRAMES ? KMA_SLAB_WALKS : KMA_SLAB_GROUP_SEARCHES;
    for (uint search = 0; search < most; search++) {
        const uint ended = kma_load_u32(&heap->runs_ended, KMA_ACQUIRE); // loaded before `begun`
        uint begun = kma_load_u32(&heap->runs_begun, KMA_ACQUIRE);
        const bool is_quiet = begun == ended;
        const kma_ref block = count <= KMA_SLAB_GROUP_FRAMES
                                  ? kma_slab_take_in_group(heap, lines, count, &begun)
                                  : kma_slab_take_across(heap, lines, count, from, step, &begun);
        if (block != KMA_NULL)
            return block;
        const bool was_quiet = is_quiet && kma_load_u32(&heap->runs_begun, KMA_ACQUIRE) == begun;
        if (was_quiet && step == 1)
            break;
        if (!was_quiet)
            kma_pause(500);
        if (from == 0)
            step = 1;
        from = 0;
    }
    return KMA_NULL;
}

// Frees the run with first line `line` and that line's loaded word. False if another lane freed it.
// Releases.
static inline KMA_COLD bool kma_slab_release_run(global kma_slab *heap, uint line, uint word)
{
    if (kma_cas_u32(kma_slab_word(heap, line), word, word & ~KMA_SLAB_RUN, KMA_RELAXED) != word)
        return false;
    const uint lines = word & KMA_SLAB_RUN_LINES, first = line >> KMA_SLAB_FRAME_SHIFT;
    kma_slab_give_back_frames(heap, first, lines >> KMA_SLAB_FRAME_SHIFT);
    kma_slab_undo(heap, first + (lines >> KMA_SLAB_FRAME_SHIFT),
                  kma_slab_mask(0, lines & (KMA_SLAB_FRAME_LINES - 1)));
    return true;
}

#endif
