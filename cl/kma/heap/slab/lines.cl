// Lines: the allocator below pages, slabs and runs.
//
// The used bit is the truth about a line. A lane owns a line if its read-modify-write set the bit
// and found it clear (acquire). The owner gives the line back by a read-modify-write that clears
// the bit (release). The two pair: the next owner comes after all uses by the last one.
//
// Run trees are hints for searches: tree r has frames that may have r free lines as longest run.
//
//   Invariant: a frame with a longest run of r lines is in the tree of r or of a longer run, or a
//   work-item is about to put it there.
//
// How a lane that frees lines and a lane that unlists a frame cannot miss each other:
//
// 1. The freeing lane changes the used word by a read-modify-write (acquire and release), then
//    loads the tree's word, and puts the frame there if it is missing. Whole frames of a run it
//    puts without a load.
// 2. The unlisting lane takes the frame out of the tree, then reads the used word by a
//    read-modify-write (acquire and release), and puts the frame into the tree where it belongs.
// 3. One of the two read-modify-writes on the used word comes second. If the unlisting lane's does,
//    it sees the free lines. If the freeing lane's does, its load of the tree sees the frame gone.
//
// Group trees are hints for runs above 8 KiB. A group is the frames of one word of the tree of
// whole frames; group tree r has groups that may have r whole frames as longest run.
//
//   Invariant: a group is in the tree of its longest run of listed whole frames or of a longer one,
//   or a work-item is about to put it there.
//
// A lane that lists a whole frame then puts the group by a read-modify-write (release), without a
// load. A lane that takes a group out (acquire) then loads the frames' word: it sees the frames of
// every put that came before.
#ifndef KMA_HEAP_SLAB_LINES_CL
#define KMA_HEAP_SLAB_LINES_CL

#include "kma/platform/bits.cl" // first: layout.cl uses kma_highest_bit

#include "kma/heap/common/ref.cl"
#include "kma/heap/slab/layout.cl"
#ifndef KMA_BIT_TREE_ABOVE // scatter.cl was included first
#define KMA_BIT_TREE_ABOVE KMA_COLD
#endif
#include "kma/lockfree/bit_tree.cl"
#include "kma/platform/memory.cl"
#include "kma/platform/place.cl"

static inline global kma_atomic_u32 *kma_slab_at(global kma_slab *heap, uint unit)
{
    return (global kma_atomic_u32 *)((global uchar *)heap + (size_t)unit * KMA_UNIT);
}

static inline global kma_atomic_u32 *kma_slab_used(global kma_slab *heap, uint frame)
{
    return kma_slab_at(heap, heap->plan.used) + frame;
}

static inline global kma_atomic_u32 *kma_slab_word(global kma_slab *heap, uint line)
{
    return kma_slab_at(heap, heap->plan.words) + line;
}

static inline global kma_atomic_u32 *kma_slab_tree(global kma_slab *heap, uint number)
{
    return kma_slab_at(heap, heap->plan.trees) + (size_t)number * heap->plan.tree_words;
}

static inline kma_ref kma_slab_ref(global kma_slab *heap, uint line, uint units)
{
    return heap->plan.begin + (line << KMA_SLAB_LINE_SHIFT) + units;
}

// The trees' functions, not inlined: many cold paths call them.
static inline KMA_COLD void kma_slab_put(global kma_slab *heap, uint tree, uint frame)
{
    kma_bit_tree_put(kma_slab_tree(heap, tree), heap->plan.room, frame);
}

static inline KMA_COLD void kma_slab_take_out(global kma_slab *heap, uint tree, uint frame)
{
    kma_bit_tree_take(kma_slab_tree(heap, tree), heap->plan.room, frame);
}

static inline KMA_COLD uint kma_slab_find(global kma_slab *heap, uint tree, uint near)
{
    return kma_bit_tree_find(kma_slab_tree(heap, tree), heap->plan.room, near);
}

static inline KMA_COLD uint kma_slab_next(global kma_slab *heap, uint tree, uint from)
{
    return kma_bit_tree_next(kma_slab_tree(heap, tree), heap->plan.room, from);
}

// Returns which of the trees [first, end), at most 64, are not empty: a bit each, from the first's
// on.
//
// Loads the roots by acquire, from the last tree to the first: a frame that moves to a shorter
// run's tree is seen in one of the two. The memory model allows one exception: a lane that sees the
// frame leave the longer run's tree and not the earlier put. It costs an early NULL under
// contention.
static inline ulong kma_slab_filled(global kma_slab *heap, uint first, uint end)
{
    global kma_atomic_u32 *const root = kma_slab_tree(heap, first) + heap->plan.tree_words - 1;
    ulong filled = 0;
    for (uint i = end - first; i-- != 0;) // 64 times at most
        filled |= (ulong)(kma_load_u32(&root[(size_t)i * heap->plan.tree_words], KMA_ACQUIRE) != 0)
                  << i;
    return filled;
}

// ------ free lines of a frame --------------------------------------------------------------------

static inline uint kma_slab_longest_run(uint free_lines)
{
    uint run = 0;
    for (; free_lines != 0; free_lines &= free_lines >> 1) // 32 times at most
        run++;
    return run;
}

// The lines at which `count` free lines side by side begin, a bit each.
static inline uint kma_slab_begins(uint free_lines, uint count)
{
    for (uint run = 1; run < count; run *= 2) // 5 times at most
        free_lines &= free_lines >> min(run, count - run);
    return free_lines;
}

// The bits of `count` lines from `first` on, all in one frame.
static inline uint kma_slab_mask(uint first, uint count)
{
    return (uint)kma_bits_below(count) << first;
}

// The bits of lines [first, first + count) that are in `frame`, which has at least one of them.
static inline uint kma_slab_part(uint first, uint count, uint frame)
{
    const uint base = frame << KMA_SLAB_FRAME_SHIFT;
    const uint begin = max(first, base) - base;
    return kma_slab_mask(begin, min(first + count - base, KMA_SLAB_FRAME_LINES) - begin);
}

// The word of the tree of whole frames that has a group's frames.
static inline global kma_atomic_u32 *kma_slab_whole(global kma_slab *heap, uint group)
{
    return kma_slab_tree(heap, KMA_SLAB_WHOLE_TREE) + group;
}

// Puts a group with listed whole frames into the group tree of its longest run. Always by a
// read-modify-write: it pairs with the acquire of a lane that takes the group out.
static inline KMA_COLD void kma_slab_list_group(global kma_slab *heap, uint group)
{
    const uint run = kma_slab_longest_run(kma_load_u32(kma_slab_whole(heap, group), KMA_RELAXED));
    if (run != 0)
        kma_slab_put(heap, KMA_SLAB_GROUP_TREE(run), group);
}

// Moves a group from the tree of `run` to the tree of its longest run.
static inline KMA_COLD void kma_slab_relist_group(global kma_slab *heap, uint run, uint group)
{
    if (kma_slab_longest_run(kma_load_u32(kma_slab_whole(heap, group), KMA_RELAXED)) == run)
        return;
    kma_slab_list_group(heap, group);
    kma_slab_take_out(heap, KMA_SLAB_GROUP_TREE(run), group);
    kma_slab_list_group(heap, group);
}

// Puts a frame into the run tree of its longest run, unless it is there. `used` is its used word as
// the caller's read-modify-write left it, or as the caller loaded it.
static inline KMA_COLD void kma_slab_list_lines(global kma_slab *heap, uint frame, uint used)
{
    const uint run = kma_slab_longest_run(~used & KMA_SLAB_FULL);
    if (run == 0 || kma_bit_tree_has(kma_slab_tree(heap, KMA_SLAB_RUN_TREE(run)), frame))
        return;
    kma_slab_put(heap, KMA_SLAB_RUN_TREE(run), frame);
    if (run == KMA_SLAB_FRAME_LINES)
        kma_slab_list_group(heap, frame >> KMA_BIT_TREE_SHIFT);
}

// Moves a frame from the tree of `run` to the tree of its longest run. Puts it there first:
// concurrent searches find it. Checks again after the removal (the file's head, 2).
static inline KMA_COLD void kma_slab_relist(global kma_slab *heap, uint run, uint frame)
{
    const uint used = kma_load_u32(kma_slab_used(heap, frame), KMA_RELAXED);
    if (kma_slab_longest_run(~used & KMA_SLAB_FULL) == run)
        return;
    kma_slab_list_lines(heap, frame, used);
    kma_slab_take_out(heap, KMA_SLAB_RUN_TREE(run), frame);
    kma_slab_list_lines(heap, frame, kma_fetch_or_u32(kma_slab_used(heap, frame), 0, KMA_ACQ_REL));
}

// Gives back lines of one frame, which the caller owns, and lists the frame. Acquires and releases.
static inline void kma_slab_give_back_part(global kma_slab *heap, uint frame, uint mask)
{
    const uint before = kma_fetch_and_u32(kma_slab_used(heap, frame), ~mask, KMA_ACQ_REL);
    // A frame in the tree of whole frames needs no put: a search that meets it there moves it to
    // the tree of its longest run, and checks again.
    if (!kma_bit_tree_has(kma_slab_whole(heap, 0), frame))
        kma_slab_list_lines(heap, frame, before & ~mask);
}

// The same, not inlined, for rare cases: a claim that met another lane's lines. Nothing for mask 0.
static inline KMA_COLD void kma_slab_undo(global kma_slab *heap, uint frame, uint mask)
{
    if (mask != 0)
        kma_slab_give_back_part(heap, frame, mask);
}

// Gives back lines [first, first + count), which the caller owns, in any frames. Releases.
static inline KMA_COLD void kma_slab_give_back(global kma_slab *heap, uint first, uint count)
{
    const uint last = (first + count - 1) >> KMA_SLAB_FRAME_SHIFT;
    for (uint frame = first >> KMA_SLAB_FRAME_SHIFT; frame <= last; frame++)
        kma_slab_give_back_part(heap, frame, kma_slab_part(first, count, frame));
}

// ------ claims by one lane -----------------------------------------------------------------------

// Claims `count` free lines side by side in a frame, the first at a multiple of `align` lines.
// KMA_SLAB_NONE if there are none. Acquires.
static inline uint kma_slab_claim_lines(global kma_slab *heap, uint frame, uint count, uint align)
{
    global kma_atomic_u32 *const used = kma_slab_used(heap, frame);
    const uint aligned = ~0u / ((1u << align) - 1); // bits at multiples of `align`
    uint seen = kma_load_u32(used, KMA_RELAXED);
    for (;;) { // again if another lane changed the used word
        const uint begins = kma_slab_begins(~seen & KMA_SLAB_FULL, count) & aligned;
        if (begins == 0)
            return KMA_SLAB_NONE;
        const uint first = kma_lowest_bit(begins);
        const uint found = kma_cas_u32(used, seen, seen | kma_slab_mask(first, count), KMA_ACQUIRE);
        if (found == seen)
            return (frame << KMA_SLAB_FRAME_SHIFT) + first;
        seen = found;
    }
}

// Claims `count` lines side by side in one frame near frame `near`: in the shortest run that is
// long enough for any alignment. KMA_SLAB_NONE if there are none. Acquires.
static inline KMA_COLD uint kma_slab_take_lines(global kma_slab *heap, uint count, uint align,
                                                uint near)
{
    const uint least = min(count + align - 1, KMA_SLAB_FRAME_LINES);
    uint stale = 0; // listed frames without enough lines
    for (;;) {      // again after each listing that was stale
        const ulong filled =
            kma_slab_filled(heap, KMA_SLAB_RUN_TREE(least), KMA_SLAB_WHOLE_TREE + 1);
        if (filled == 0)
            return KMA_SLAB_NONE;
        const uint run = least + kma_lowest_bit(filled);
        const uint frame = kma_slab_find(heap, KMA_SLAB_RUN_TREE(run), near);
        if (frame == KMA_BIT_TREE_NONE)
            continue;
        const uint line = kma_slab_claim_lines(heap, frame, count, align);
        kma_slab_relist(heap, run, frame);
        if (line != KMA_SLAB_NONE)
            return line;
        // Warps draw lines side by side and leave the frames listed: the next frames are likely
        // full, too.
        if (++stale >= KMA_SLAB_STALE)
            near = kma_mix32(frame) % heap->plan.frames;
    }
}

#endif
