// Lines: the heap's own allocator, under pages, slabs and runs.
//
// A used bit is the truth about its line. A bit is set by a read-modify-write that found it clear,
// which acquires; it is cleared by one that releases, by the lane that owns the line.
//
// Run trees tell where free lines are: tree r has frames whose longest run of free lines may be r.
//
//   A frame whose longest run has r lines is in the tree of r or of a longer run, or a work-item is
//   about to put it there.
//
// A lane that gives lines back changes the used word by a read-modify-write that acquires and
// releases, then looks at the tree by a load; of a run's whole frames it puts without a look. A
// lane that takes a frame out of a tree looks at the used word last, by a read-modify-write that
// acquires and releases, and puts the frame into the tree where it belongs. Of the two
// read-modify-writes on the used word one comes second: it is the looker's, which sees the lines,
// or the giver's, whose load then sees the frame gone.
//
// Group trees tell where whole frames are side by side: a group is the frames of one word of the
// tree of whole frames, and group tree r has groups whose longest run of whole frames may be r.
//
//   A group is in the tree of its longest run of listed whole frames or of a longer one, or a
//   work-item is about to put it there.
//
// A lane that lists a frame as whole puts the group into a tree by a read-modify-write, releasing,
// whatever a load shows. A lane that takes a group out of a tree does so by one that acquires, then
// loads the frames' word: it sees the frames of each put that came before.
#ifndef KMA_HEAP_SLAB_LINES_CL
#define KMA_HEAP_SLAB_LINES_CL

#include "kma/platform/bits.cl" // first: layout.cl takes kma_highest_bit

#include "kma/heap/common/ref.cl"
#include "kma/heap/slab/layout.cl"
#ifndef KMA_BIT_TREE_ABOVE // scatter.cl came first
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

// The trees' functions, called: they are in many cold paths.
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

// Of trees [first, end), at most 64: a bit for each that is not empty, from the first's on. From
// the last on, each load behind the one before (acquire): a frame that moves from one run tree to a
// shorter run's is met in one of them. (Where a lane sees it leave the longer one without the put
// in front of that, which only the memory model allows, a crowd gets an early NULL.)
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

// Where `count` free lines begin.
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

// Those of lines [first, first + count) that are in a frame, which has some.
static inline uint kma_slab_part(uint first, uint count, uint frame)
{
    const uint base = frame << KMA_SLAB_FRAME_SHIFT;
    const uint begin = max(first, base) - base;
    return kma_slab_mask(begin, min(first + count - base, KMA_SLAB_FRAME_LINES) - begin);
}

// The whole frames of a group, as listed.
static inline global kma_atomic_u32 *kma_slab_whole(global kma_slab *heap, uint group)
{
    return kma_slab_tree(heap, KMA_SLAB_WHOLE_TREE) + group;
}

// Lists a group that has whole frames: by a read-modify-write, whatever a load shows.
static inline KMA_COLD void kma_slab_list_group(global kma_slab *heap, uint group)
{
    const uint run = kma_slab_longest_run(kma_load_u32(kma_slab_whole(heap, group), KMA_RELAXED));
    if (run != 0)
        kma_slab_put(heap, KMA_SLAB_GROUP_TREE(run), group);
}

// Moves a group from the tree of a run to the one where it belongs now.
static inline KMA_COLD void kma_slab_relist_group(global kma_slab *heap, uint run, uint group)
{
    if (kma_slab_longest_run(kma_load_u32(kma_slab_whole(heap, group), KMA_RELAXED)) == run)
        return;
    kma_slab_list_group(heap, group);
    kma_slab_take_out(heap, KMA_SLAB_GROUP_TREE(run), group);
    kma_slab_list_group(heap, group);
}

// Lists a frame by its used word as the caller made it, or saw it last.
static inline KMA_COLD void kma_slab_list_lines(global kma_slab *heap, uint frame, uint used)
{
    const uint run = kma_slab_longest_run(~used & KMA_SLAB_FULL);
    if (run == 0 || kma_bit_tree_has(kma_slab_tree(heap, KMA_SLAB_RUN_TREE(run)), frame))
        return;
    kma_slab_put(heap, KMA_SLAB_RUN_TREE(run), frame);
    if (run == KMA_SLAB_FRAME_LINES)
        kma_slab_list_group(heap, frame >> KMA_BIT_TREE_SHIFT);
}

// Moves a frame from the tree of a run to the one where it belongs now. It is never in none
// meanwhile, so that lanes that search at the same time find it.
static inline KMA_COLD void kma_slab_relist(global kma_slab *heap, uint run, uint frame)
{
    const uint used = kma_load_u32(kma_slab_used(heap, frame), KMA_RELAXED);
    if (kma_slab_longest_run(~used & KMA_SLAB_FULL) == run)
        return;
    kma_slab_list_lines(heap, frame, used);
    kma_slab_take_out(heap, KMA_SLAB_RUN_TREE(run), frame);
    kma_slab_list_lines(heap, frame, kma_fetch_or_u32(kma_slab_used(heap, frame), 0, KMA_ACQ_REL));
}

// Gives back lines of one frame, which are the caller's; releases.
static inline void kma_slab_give_back_part(global kma_slab *heap, uint frame, uint mask)
{
    const uint before = kma_fetch_and_u32(kma_slab_used(heap, frame), ~mask, KMA_ACQ_REL);
    // A frame among the wholly free ones is not missed: its listing there goes only by a look.
    if (!kma_bit_tree_has(kma_slab_whole(heap, 0), frame))
        kma_slab_list_lines(heap, frame, before & ~mask);
}

// The same, called: where a claim met lines of another lane, and for what is rare.
static inline KMA_COLD void kma_slab_undo(global kma_slab *heap, uint frame, uint mask)
{
    if (mask != 0)
        kma_slab_give_back_part(heap, frame, mask);
}

// Gives back lines of any frames, which are the caller's; releases.
static inline KMA_COLD void kma_slab_give_back(global kma_slab *heap, uint first, uint count)
{
    const uint last = (first + count - 1) >> KMA_SLAB_FRAME_SHIFT;
    for (uint frame = first >> KMA_SLAB_FRAME_SHIFT; frame <= last; frame++)
        kma_slab_give_back_part(heap, frame, kma_slab_part(first, count, frame));
}

// ------ claims by one lane -----------------------------------------------------------------------

// Claims `count` lines in a frame, the first at a multiple of `align` lines. KMA_SLAB_NONE if there
// is no room. Acquires.
static inline uint kma_slab_claim_lines(global kma_slab *heap, uint frame, uint count, uint align)
{
    global kma_atomic_u32 *const used = kma_slab_used(heap, frame);
    const uint aligned = ~0u / ((1u << align) - 1); // bits at multiples of it
    uint seen = kma_load_u32(used, KMA_RELAXED);
    for (;;) { // once more if another lane was quicker
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

// Claims lines of one frame near another one, which need not exist, in the shortest runs that have
// room for them at every alignment. KMA_SLAB_NONE if there are none. Acquires.
static inline KMA_COLD uint kma_slab_take_lines(global kma_slab *heap, uint count, uint align,
                                                uint near)
{
    const uint least = min(count + align - 1, KMA_SLAB_FRAME_LINES);
    uint stale = 0; // listings that went
    for (;;) {      // each time a listing goes
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
        // Warps draw lines side by side: what follows frames that are theirs is theirs, too.
        if (++stale >= KMA_SLAB_STALE)
            near = kma_mix32(frame) % heap->plan.frames;
    }
}

#endif
