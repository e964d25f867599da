// The slab heap in memory: types, sizes and the forms of a line word. Shared with the host library
// like heap/common/header.cl. The including file provides kma_highest_bit.
//
//   0                                                               begin           limit
//   | kma_slab | current lines  | used words | trees    | line words |pad| frame 0 | frame 1 | …
//   |          | 1 word for     | 1 bit for  | 121 bits | 1 word for |   | 32 lines of 256 B,
//   |          | each shard and | each line  | for each | each line  |   | 8 KiB, each
//   |          | page class     |            | frame    |            |   |
//
// With KMA_DEBUG 2 and 3 a kma_guard lies between trees and line words. Metadata of a frame: used
// word 4 B, trees 15.6 B, line words 128 B, together 1.80 % of its 8 KiB.
//
// A line belongs to the lane that set its used bit. Its line word says what the line is used for:
//
//   dead   0, or the last value of a slab or run that ended
//   page   01 | 29:24 class   | 21 listed | 20 ending | 19:16 slots - 1   | 15:0 occupancy
//   equal  10 | 29: 0         | 27:22 class    | 18:16 log2 slots         | 15:0 occupancy
//   mixed  10 | 29: 1 | 28 coarse | 27:20 lines - 1 | 19:17 planes        | 15:0 occupancy
//   rest   11 | 29 of a mixed slab | 27:20 lines back to the slab's first | 18:16 log2 slots, or
//                                                                           15:0 a bit plane
//   run    00 | 29 living     | 27:0 lines
//
// An occupancy bit is set while its slot is taken.
//
// - page: a whole frame of one class. Slot s has bit s / W of line word s % W, where W is 1 <<
//   kma_slab_page_shift(units). All 32 line words have this form, also those from W on, which have
//   no slots: the word of any line says what the frame is.
// - slab: up to 16 slots side by side, made by a whole warp or by one lane. Their bits are in the
//   word of the first line. `equal`: slots of one class, 32 lines at most. `mixed`: 16 slots of
//   different sizes. Bit s of plane p is bit p of (units of slot s) - 1, or of (units / 4) - 1 if
//   coarse. Plane p is in the line word p + 1 lines after the first.
// - rest: leads back to a slab's first line. Written where a slot begins in a later line, and where
//   a plane is.
// - run: one block above KMA_SLAB_MOST units, in whole frames and the first lines of the next one.
//
// A slab lives while an occupancy bit is set, a page until all its words are ended, a run while
// `living` is set.
#ifndef KMA_HEAP_SLAB_LAYOUT_CL
#define KMA_HEAP_SLAB_LAYOUT_CL

#include "kma/heap/common/guard_layout.cl"
#include "kma/heap/common/header.cl"
#include "kma/lockfree/bit_tree_layout.cl"

#ifndef KMA_SLAB_LINE_SHIFT     // tests/host takes smaller numbers
#define KMA_SLAB_LINE_SHIFT 4u  // log2 of the units of a line
#define KMA_SLAB_FRAME_SHIFT 5u // log2 of the lines of a frame
#define KMA_SLAB_TEAM_SHIFT 4u  // log2 of the most slots of a slab
#define KMA_SLAB_PLANES 7u      // bit planes of a mixed slab, at most; fewer than slots
#define KMA_SLAB_ALIGN 4096u    // where frame 0 begins: the heap's largest alignment
#endif
#define KMA_SLAB_TEAM (1u << KMA_SLAB_TEAM_SHIFT)
#define KMA_SLAB_LINE_UNITS (1u << KMA_SLAB_LINE_SHIFT)
#define KMA_SLAB_FRAME_LINES (1u << KMA_SLAB_FRAME_SHIFT)
#define KMA_SLAB_FRAME_UNITS (KMA_SLAB_LINE_UNITS << KMA_SLAB_FRAME_SHIFT)
#define KMA_SLAB_FULL                                                                              \
    (KMA_SLAB_FRAME_SHIFT < 5 ? (1u << KMA_SLAB_FRAME_LINES % 32) - 1 : 0xffffffffu)
#define KMA_SLAB_MOST KMA_SLAB_FRAME_UNITS // units of the largest class
#define KMA_SLAB_NONE 0xffffffffu          // no line, no frame

// ------ size classes -----------------------------------------------------------------------------
//
// 1 to 8 units, then eight sizes for each power of two.

static inline uint kma_slab_units(uint size_class)
{
    return size_class < 8 ? size_class + 1 : (9 + size_class % 8) << (size_class / 8 - 1);
}

// Returns the smallest class of at least `units`; KMA_SLAB_CLASSES or above if there is none, or
// for 0 units.
static inline uint kma_slab_class_of(uint units)
{
    const uint last = units - 1;
    if (last < 8)
        return last;
    const uint power = kma_highest_bit(last);
    return 8 * (power - 2) + (last >> (power - 3)) % 8;
}

#define KMA_SLAB_CLASSES (8 * (KMA_SLAB_LINE_SHIFT + KMA_SLAB_FRAME_SHIFT - 2))
// Classes with pages: those up to an eighth of a frame.
#define KMA_SLAB_PAGE_CLASSES                                                                      \
    (KMA_SLAB_FRAME_UNITS <= 64 ? KMA_SLAB_FRAME_UNITS / 8 : KMA_SLAB_CLASSES - 24)

// offset / units, exact for an offset within a frame, by a division of floats: devices have no fast
// division of integers. offset + 0.5 makes the quotient stay 1 / 1024 away from a whole number; the
// division's error is below 2^-12.
static inline uint kma_slab_divide(uint offset, uint units)
{
    return (uint)(((float)offset + 0.5f) / (float)units);
}

// log2 of the number of line words that hold a page's occupancy.
static inline uint kma_slab_page_shift(uint units)
{
    return units <= KMA_SLAB_LINE_UNITS
               ? KMA_SLAB_FRAME_SHIFT
               : KMA_SLAB_FRAME_SHIFT + KMA_SLAB_LINE_SHIFT - 1 - kma_highest_bit(units - 1);
}

// log2 of the slots of an equal slab: a team's, or as many as fit into a frame.
static inline uint kma_slab_shift(uint units)
{
    const uint fit = KMA_SLAB_LINE_SHIFT + KMA_SLAB_FRAME_SHIFT - kma_highest_bit(2 * units - 1);
    return fit < KMA_SLAB_TEAM_SHIFT ? fit : KMA_SLAB_TEAM_SHIFT;
}

static inline uint kma_slab_whole_lines(uint units)
{
    return (units + KMA_SLAB_LINE_UNITS - 1) >> KMA_SLAB_LINE_SHIFT;
}

// ------ line words -------------------------------------------------------------------------------

#define KMA_SLAB_FORM 0xc0000000u
#define KMA_SLAB_RUN 0x20000000u // living
#define KMA_SLAB_PAGE 0x40000000u
#define KMA_SLAB_SLAB 0x80000000u
#define KMA_SLAB_REST 0xc0000000u
#define KMA_SLAB_MIXED 0x20000000u // with SLAB and REST
#define KMA_SLAB_COARSE 0x10000000u
#define KMA_SLAB_OCCUPANCY 0x0000ffffu
// With PAGE: a lane begins the page or tries to end it; no slot of the word can be claimed.
#define KMA_SLAB_ENDING 0x00100000u
// With PAGE: the frame is in the empty tree, or a lane is about to put it there.
#define KMA_SLAB_LISTED 0x00200000u
#define KMA_SLAB_RUN_LINES 0x0fffffffu
#define KMA_SLAB_MOST_MIXED (2u << KMA_SLAB_PLANES) // units of a slot of a mixed slab

// Line word number `index` of a page without blocks.
static inline uint kma_slab_page_word(uint size_class, uint index)
{
    const uint units = kma_slab_units(size_class);
    const uint shift = kma_slab_page_shift(units);
    const uint slots = KMA_SLAB_FRAME_UNITS / units;
    const uint mine = index < 1u << shift ? (slots - index + (1u << shift) - 1) >> shift : 1;
    return KMA_SLAB_PAGE | size_class << 24 | (mine - 1) << 16;
}

static inline uint kma_slab_page_class(uint word)
{
    return word >> 24 & 63;
}

// The valid occupancy bits of a page word.
static inline uint kma_slab_page_slots(uint word)
{
    return (2u << (word >> 16 & 15)) - 1;
}

static inline uint kma_slab_equal_word(uint size_class, uint shift)
{
    return KMA_SLAB_SLAB | size_class << 22 | shift << 16 | ((1u << (1u << shift)) - 1);
}

static inline uint kma_slab_equal_class(uint word)
{
    return word >> 22 & 63;
}

static inline uint kma_slab_equal_shift(uint word)
{
    return word >> 16 & 7;
}

static inline bool kma_slab_is_equal(uint word)
{
    return (word & (KMA_SLAB_FORM | KMA_SLAB_MIXED)) == KMA_SLAB_SLAB &&
           (word & KMA_SLAB_OCCUPANCY) != 0;
}

static inline bool kma_slab_is_mixed(uint word)
{
    return (word & (KMA_SLAB_FORM | KMA_SLAB_MIXED)) == (KMA_SLAB_SLAB | KMA_SLAB_MIXED) &&
           (word & KMA_SLAB_OCCUPANCY) != 0;
}

// The valid occupancy bits of a slab's first word.
static inline uint kma_slab_slots(uint word)
{
    return (word & KMA_SLAB_MIXED) != 0 ? (1u << KMA_SLAB_TEAM) - 1
                                        : (1u << ((1u << kma_slab_equal_shift(word)) & 31)) - 1;
}

// Lines of the slab that has this first word.
static inline uint kma_slab_lines_of(uint word)
{
    if ((word & KMA_SLAB_MIXED) != 0)
        return (word >> 20 & 255) + 1;
    return kma_slab_whole_lines(kma_slab_units(kma_slab_equal_class(word))
                                << kma_slab_equal_shift(word));
}

static inline uint kma_slab_rest_word(uint back, uint shift)
{
    return KMA_SLAB_REST | back << 20 | shift << 16;
}

// ------ the plan ---------------------------------------------------------------------------------

// The bit trees (lockfree/bit_tree.cl), in this order:
//
// - a class tree for each class: frames that may have a free slot of it;
// - run trees, by the longest run of free lines in a frame; the last one is the tree of whole
//   frames;
// - group trees, by the longest run of whole frames in a group. A group is the frames of one word
//   of the tree of whole frames;
// - the empty tree: frames of pages that may have no block.
#define KMA_SLAB_RUN_TREE(lines) (KMA_SLAB_CLASSES + (lines)-1)
#define KMA_SLAB_WHOLE_TREE KMA_SLAB_RUN_TREE(KMA_SLAB_FRAME_LINES)
#define KMA_SLAB_GROUP_TREE(frames) (KMA_SLAB_WHOLE_TREE + (frames))
#define KMA_SLAB_GROUP_FRAMES KMA_BIT_TREE_FANOUT
#define KMA_SLAB_EMPTY_TREE (KMA_SLAB_WHOLE_TREE + KMA_SLAB_GROUP_FRAMES + 1)
#define KMA_SLAB_TREES (KMA_SLAB_EMPTY_TREE + 1)

#ifndef KMA_SLAB_SHARDS
#define KMA_SLAB_SHARDS 1024u      // at most
#define KMA_SLAB_SHARD_FRAMES 64u  // for each shard, at least
#define KMA_SLAB_CURSORS 32u       // of each band, at most
#define KMA_SLAB_CURSOR_STRIDE 32u // words from one to the next: a cache line each
#define KMA_SLAB_CURSOR_FRAMES 64u // for each cursor, at least
// Frames of the smallest heap with pages. In a smaller one a page for each class takes too much of
// it.
#define KMA_SLAB_PAGED 64u
// A page without blocks stays for the next lanes while so many of the 32 frames around are whole.
// It is in the empty tree then, and ends when a lane finds no other memory
// (kma_slab_take_exhausted).
#define KMA_SLAB_SPARE 8u
#define KMA_SLAB_AT_ONCE 8u   // claims of a run's frames that are in flight together
#define KMA_SLAB_TRIES 6u     // times that a lane loads four line words near its current line
#define KMA_SLAB_VISITS 3u    // listed frames that a lane visits before it makes a new page
#define KMA_SLAB_STALE 4u     // listed frames without enough lines before a search jumps
#define KMA_SLAB_PATIENCE 32u // tries for the turn before a lane refills without it
// Frames of a class tree that a search for an aligned slot visits. A frame whose free slots are all
// unaligned stays listed.
#define KMA_SLAB_ALIGNED_LOOKS 1024u
// log2 of the lines of a share: lines side by side that a cursor hands out before it moves on.
#define KMA_SLAB_FEW_SHIFT 9u
#define KMA_SLAB_MANY_SHIFT 12u
#endif
#define KMA_SLAB_USUAL_CURSORS 16u
// There are two bands of cursors: for draws of up to KMA_SLAB_FEW lines, with shares of 128 KiB,
// and for larger ones, with shares of 1 MiB. Small draws stay close together; large ones have
// enough lines in a share.
#define KMA_SLAB_BAND_FEW 0u
#define KMA_SLAB_BAND_MANY 1u
#define KMA_SLAB_FEW (1u << (KMA_SLAB_FEW_SHIFT - 4)) // lines, at most

// Where everything is. Only growth changes it: `frames`, `rounds` and `limit`. All metadata has
// space for `room` frames from the start.
typedef struct kma_slab_plan {
    uint frames;
    uint room;       // frames that the metadata has space for
    uint shards;     // a power of two
    uint cursors;    // of each band
    uint rounds[2];  // of each band: shares of each cursor
    uint tree_words; // of each tree
    uint current;    // from here on: offsets in units from the heap's start
    uint used;
    uint trees;
    uint guard; // of the kma_guard; 0 if there is none
    uint words;
    uint begin; // of frame 0
    uint limit; // after the last frame
} kma_slab_plan;

#if KMA_DEBUG
#define kma_slab KMA_FLAVOUR_OF(kma_slab)
#endif
typedef struct kma_slab {
    kma_heap_header header;
    kma_slab_plan plan;
    kma_atomic_u32 runs_begun; // attempts to claim frames for a run (large.cl)
    kma_atomic_u32 runs_ended;
    uint pad[6];
    kma_atomic_u32 cursors[2 * KMA_SLAB_CURSORS * KMA_SLAB_CURSOR_STRIDE]; // lines drawn, by band
} kma_slab;

static inline uint kma_slab_shards_of(uint frames)
{
    uint shards = 1;
    // Ten times at most.
    while (shards < KMA_SLAB_SHARDS && shards * 2 * KMA_SLAB_SHARD_FRAMES <= frames)
        shards *= 2;
    return shards;
}

// The plan with only as many of its frames as a heap of `bytes` holds.
static inline kma_slab_plan kma_slab_plan_within(kma_slab_plan plan, ulong bytes)
{
    const ulong units = bytes / KMA_UNIT;
    const ulong fit = units > plan.begin ? (units - plan.begin) / KMA_SLAB_FRAME_UNITS : 0;
    plan.frames = (uint)min(fit, (ulong)plan.room);
    const uint lines = plan.frames << KMA_SLAB_FRAME_SHIFT;
    plan.rounds[KMA_SLAB_BAND_FEW] = (lines >> KMA_SLAB_FEW_SHIFT) / plan.cursors;
    plan.rounds[KMA_SLAB_BAND_MANY] = (lines >> KMA_SLAB_MANY_SHIFT) / plan.cursors;
    plan.limit = plan.begin + plan.frames * KMA_SLAB_FRAME_UNITS;
    return plan;
}

// The plan of a heap of so many frames; *end becomes the unit where the heap ends.
static inline kma_slab_plan kma_slab_plan_of(uint frames, uint cursors, uint debug, ulong *end)
{
    const ulong word = sizeof(kma_atomic_u32);
    kma_slab_plan plan;
    plan.frames = plan.limit = plan.rounds[0] = plan.rounds[1] = 0; // set by kma_slab_plan_within
    plan.room = frames;
    plan.shards = kma_slab_shards_of(frames);
    plan.cursors = min(cursors, max(frames / KMA_SLAB_CURSOR_FRAMES, 1u));
    plan.tree_words = kma_bit_tree_words(frames);
    const ulong current = kma_whole_units(sizeof(kma_slab));
    const ulong used = current + kma_whole_units((ulong)plan.shards * KMA_SLAB_PAGE_CLASSES * word);
    const ulong trees = used + kma_whole_units(frames * word);
    const ulong guard = trees + kma_whole_units((ulong)plan.tree_words * KMA_SLAB_TREES * word);
    const ulong words = guard + kma_guard_room(debug);
    const ulong behind = words + kma_whole_units(((ulong)frames << KMA_SLAB_FRAME_SHIFT) * word);
    const ulong begin = (behind + KMA_SLAB_ALIGN / KMA_UNIT - 1) / (KMA_SLAB_ALIGN / KMA_UNIT) *
                        (KMA_SLAB_ALIGN / KMA_UNIT);
    *end = begin + (ulong)frames * KMA_SLAB_FRAME_UNITS;
    plan.current = (uint)current;
    plan.used = (uint)used;
    plan.trees = (uint)trees;
    plan.guard = debug >= 2 ? (uint)guard : 0;
    plan.words = (uint)words;
    plan.begin = (uint)begin;
    return kma_slab_plan_within(plan, *end * KMA_UNIT);
}

// The plan of a heap that has `bytes` and may grow to `max_bytes`: with the most frames that fit
// into the larger one; 0 frames if none fits.
static inline kma_slab_plan kma_slab_plan_growing(ulong bytes, ulong max_bytes, uint cursors,
                                                  uint debug)
{
    const ulong refs = 0xffffffffu; // units that a ref can reach
    const ulong units = min(max(bytes, max_bytes) / KMA_UNIT, refs);
    ulong end;
    kma_slab_plan plan = kma_slab_plan_of(0, cursors, debug, &end);
    for (uint step = 0x80000000u / KMA_SLAB_FRAME_UNITS; step != 0; step >>= 1) { // 23 times
        const kma_slab_plan larger = kma_slab_plan_of(plan.frames + step, cursors, debug, &end);
        if (end <= units)
            plan = larger;
    }
    return kma_slab_plan_within(plan, bytes);
}

#endif
