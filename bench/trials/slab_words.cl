// Trials A and B of the slab heap's second design: the loops of stray lanes and of whole warps, as
// they would stand in the heap, on a heap that has no large blocks, no public functions and no
// debug flavours.
//
// Memory is lines. Each line has a line word, whose form is one of
//   EQUAL  29 kept, 28 announced, 27:22 class, 21:18 slots - 1, 15:0 occupancy
//   MIXED  27:20 lines - 1, 19:17 planes, 16 plus-one, 15:0 occupancy
//   REST   29 mixed, 27:20 lines back to the slab's first line, 15:0 a bit plane (mixed)
// An EQUAL or MIXED word is living if an occupancy bit or `kept` is set. The word of an inner or a
// free line is never living. A claim is a compare-and-swap from a living word to a living word.
//
// Every loop here has a bound. (Those of bit_tree.cl go on only if another work-item changed
// something.)
//
// Macros that choose a variant:
//
//   SUB_SHARDS     current slabs of a class for each multiprocessor: 1, 4 or 8
//   BY_LEADER      1: one lane claims and frees for all lanes of its class or slab; 0: each by itself
//   OWN_PACK       lanes of one class from which on they get a slab of their own; 0: never
//   COUNTED        1: a word {class, slots, count} reserves by add, then a bit is taken by OR;
//                  0: one word, by compare-and-swap
//   TOGETHER       1: whole warps have their own path
//   LOOK_AT_STATE  1: a claim of lines looks at the region's state
//   SHARE_END      1: the draw that ends a share takes its regions out of line tree 47
//   KEEP_ALL       1: an empty slab stays in its class; 0: it ends unless it is current
//   WITH_MIXED     1: warps of several classes, too, have the path of whole warps
//   STRAY          1: there is a path for stray lanes
//   WIDE_LINES     1: lines of 512 B, slabs of 32 slots, two words for each line (whole warps only)
//   FLOOR          1: no heap at all, each work-item has a place of its own
//   TRIAL_A        1: the kernels of trial A, 0: those of B

#include "kma/lockfree/bit_tree.cl"
#include "kma/platform/bits.cl"
#include "kma/platform/lanes.cl"
#include "kma/platform/memory.cl"
#include "kma/platform/place.cl"

#define NONE 0xffffffffu

#if WIDE_LINES
#define LINE_SHIFT 5u // log2 of a line's units
#define TEAM 32u      // lanes of a whole warp that share a slab
#else
#define LINE_SHIFT 4u
#define TEAM 16u
#endif
#define LINE_UNITS (1u << LINE_SHIFT)
#define REGION_SHIFT 8u // log2 of a region's lines
#define REGION_LINES (1u << REGION_SHIFT)
#define REGION_WORDS (REGION_LINES / 32)
#define FRAME_SHIFT 4u // log2 of a frame's lines
#define CLASSES 64u
#define LINE_CLASSES 48u
#define KEPT_TREE CLASSES // frames with kept pages

#define CURSORS 16u // of each band
#define CURSOR_STRIDE 32u
#define BAND_FEW 0u
#define BAND_MANY 1u
#define BAND_PAGES 2u
#define FEW_LINES 32u // at most, of a draw in that band

#define FORM 0xc0000000u
#define EQUAL 0u
#define MIXED 0x40000000u
#define REST 0x80000000u
#define KEPT 0x20000000u
#define ANNOUNCED 0x10000000u
#define REST_MIXED 0x20000000u
#define OCCUPANCY 0x0000ffffu
#define OF_CLASS (FORM | 63u << 22)

// States of regions, four bits each.
#define STATE_FRESH 0u
#define STATE_OPEN 1u

// Where everything is: word offsets from the heap's start. slab_words.cpp has the same.
typedef struct slab_plan {
    uint lines, regions, frames;
    uint shard_mask;
    uint few_rounds, many_rounds, page_rounds; // shares of a cursor, by band
    uint line_tree_words, class_tree_words;
    uint at_cursors, at_current, at_states, at_used, at_line_trees, at_class_trees, at_words,
        at_others;
    uint at_memory; // in units
    uint end;       // of the words
} slab_plan;

typedef struct slab_heap {
    slab_plan plan;
    global uint *base;
    global slab_plan *header;
} slab_heap;

static inline slab_heap slab_open(global slab_plan *header)
{
    slab_heap heap;
    heap.plan = *header;
    heap.base = (global uint *)header;
    heap.header = header;
    return heap;
}

static inline global kma_atomic_u32 *slab_at(const slab_heap *heap, uint offset)
{
    return (global kma_atomic_u32 *)(heap->base + offset);
}

static inline global kma_atomic_u32 *slab_words(const slab_heap *heap)
{
    return slab_at(heap, heap->plan.at_words);
}

// Beside the line words: counts (COUNTED), or headers (WIDE_LINES).
static inline global kma_atomic_u32 *slab_others(const slab_heap *heap)
{
    return slab_at(heap, heap->plan.at_others);
}

static inline global kma_atomic_u32 *slab_used(const slab_heap *heap)
{
    return slab_at(heap, heap->plan.at_used);
}

static inline global kma_atomic_u32 *slab_class_tree(const slab_heap *heap, uint size_class)
{
    return slab_at(heap, heap->plan.at_class_trees) +
           (size_t)size_class * heap->plan.class_tree_words;
}

static inline global kma_atomic_u32 *slab_line_tree(const slab_heap *heap, uint line_class)
{
    return slab_at(heap, heap->plan.at_line_trees) + line_class * heap->plan.line_tree_words;
}

static inline global uint *slab_memory(const slab_heap *heap, uint ref)
{
    return heap->base + ((size_t)(heap->plan.at_memory + ref) << 2);
}

// ------ classes: 1 to 8 units, then eight for each power of two, to 1,024 units ------------------

static inline uint slab_class_units(uint size_class)
{
    return size_class < 8 ? size_class + 1 : (9 + size_class % 8) << (size_class / 8 - 1);
}

static inline uint slab_class_of(uint units)
{
    const uint last = units - 1;
    const uint power = 31 - (uint)clz(last | 8); // at least 3
    return last < 8 ? last : 8 * (power - 2) + (last >> (power - 3)) % 8;
}

// The largest class of at most so many.
static inline uint slab_class_within(uint units)
{
    const uint size_class = slab_class_of(units);
    return slab_class_units(size_class) > units ? size_class - 1 : size_class;
}

static inline uint slab_page_slots(uint units)
{
    return units <= 32 ? 16 : units <= 64 ? 8 : units <= 256 ? 4 : 1;
}

static inline uint slab_lines_of(uint slots, uint units)
{
    return (slots * units + LINE_UNITS - 1) >> LINE_SHIFT;
}

// ------ line words -------------------------------------------------------------------------------

static inline uint slab_equal_word(uint size_class, uint slots, uint occupied)
{
    return EQUAL | size_class << 22 | (slots - 1) << 18 | occupied;
}

static inline uint slab_all_slots(uint word)
{
    return (2u << (word >> 18 & 15)) - 1;
}

static inline uint slab_class_in(uint word)
{
    return word >> 22 & 63;
}

// The slots that a lane that wants the class may claim; none if the word is dead or of another
// class.
static inline uint slab_free_slots(uint word, uint size_class)
{
    const bool is_living =
        (word & OF_CLASS) == size_class << 22 && (word & (KEPT | OCCUPANCY)) != 0;
    return is_living ? ~word & slab_all_slots(word) : 0;
}

// The lowest `count` of the bits, or all if there are fewer.
static inline uint slab_lowest(uint bits, uint count)
{
    uint left = bits;
    for (; count != 0 && left != 0; count--) // 16 at most
        left &= left - 1;
    return bits & ~left;
}

// The bit of number `rank`, which there is.
static inline uint slab_nth(uint bits, uint rank)
{
    for (; rank != 0; rank--) // 15 at most
        bits &= bits - 1;
    return kma_lowest_bit(bits);
}

// COUNTED: 31:24 class + 1, 23:20 slots - 1, 15:0 reserved slots. Beside the line word, which has
// the bits.
static inline uint slab_count_word(uint size_class, uint slots, uint count)
{
    return (size_class + 1) << 24 | (slots - 1) << 20 | count;
}

static inline uint slab_uncounted(uint word, uint size_class)
{
    const uint slots = (word >> 20 & 15) + 1;
    const uint count = word & 0xffff;
    return word >> 24 == size_class + 1 && count < slots ? slots - count : 0;
}

#if COUNTED
#define slab_judged slab_others
#define slab_room_of slab_uncounted
#else
#define slab_judged slab_words
#define slab_room_of slab_free_slots
#endif

typedef struct slab_four {
    uint w[4];
} slab_four;

// Four words side by side, aligned to 16 bytes; relaxed.
static inline slab_four slab_load_four(global kma_atomic_u32 *at)
{
    slab_four four;
#if KMA_MEMORY == KMA_MEMORY_NV
    __asm__ volatile("ld.relaxed.gpu.global.v4.u32 {%0, %1, %2, %3}, [%4];"
                     : "=r"(four.w[0]), "=r"(four.w[1]), "=r"(four.w[2]), "=r"(four.w[3])
                     : "l"(&at->word)
                     : "memory");
#else
    for (uint i = 0; i < 4; i++)
        four.w[i] = kma_load_u32(&at[i], KMA_RELAXED);
#endif
    return four;
}

// ------ shards -----------------------------------------------------------------------------------

static inline uint slab_shard(const slab_heap *heap)
{
#if KMA_IS_NV
    const uint place = kma_warp_place();
    const uint part = BY_LEADER ? place : place * 4 + kma_lane_id() / 8;
    return ((place >> 6) * SUB_SHARDS + part % SUB_SHARDS) & heap->plan.shard_mask;
#else
    return kma_place() & heap->plan.shard_mask;
#endif
}

static inline global kma_atomic_u32 *slab_current(const slab_heap *heap, uint size_class,
                                                  uint shard)
{
    return slab_at(heap, heap->plan.at_current) + size_class * (heap->plan.shard_mask + 1) + shard;
}

// ------ lines: cursors, claims, give back --------------------------------------------------------

static inline uint slab_share_shift(uint band)
{
    return band == BAND_MANY  ? REGION_SHIFT + 4
           : band == BAND_FEW ? REGION_SHIFT + 1
                              : REGION_SHIFT;
}

// The line that a cursor means when it has counted so many.
static inline uint slab_counted_line(const slab_heap *heap, uint band, uint cursor, uint count)
{
    const uint shift = slab_share_shift(band);
    const uint rounds = band == BAND_FEW    ? heap->plan.few_rounds
                        : band == BAND_MANY ? heap->plan.many_rounds
                                            : heap->plan.page_rounds;
    const uint shares = rounds * CURSORS;
    uint turn = count >> shift;
    if (turn >= rounds)
        turn %= rounds;
    const uint begin = band == BAND_FEW ? 0 : band == BAND_MANY ? shares / 2 : shares - shares / 4;
    uint share = turn * CURSORS + cursor + begin;
    share -= share >= shares ? shares : 0;
    return (share << shift) + (count & ((1u << shift) - 1));
}

// Those of the lines [first, first + count) that are in a used word, which has some.
static inline uint slab_line_mask(uint first, uint count, uint word)
{
    const uint begin = max(first, word * 32) - word * 32;
    const uint end = min(first + count, word * 32 + 32) - word * 32;
    return (uint)(kma_bits_below(end) & ~kma_bits_below(begin));
}

// Opens a region whose state word was seen to say that it is fresh. False if the region is not open
// then.
static inline KMA_COLD bool slab_open_region(global slab_plan *header, uint region, uint word)
{
    const slab_heap heap = slab_open(header);
    global kma_atomic_u32 *const states = slab_at(&heap, heap.plan.at_states) + region / 8;
    const uint shift = region % 8 * 4;
    for (uint tries = 0; tries < 32 && (word >> shift & 15) == STATE_FRESH; tries++) {
        const uint seen = kma_cas_u32(states, word, word | STATE_OPEN << shift, KMA_ACQ_REL);
        if (seen == word)
            return true;
        word = seen;
    }
    return (word >> shift & 15) == STATE_OPEN;
}

static inline uint slab_state_word(const slab_heap *heap, uint region)
{
    return LOOK_AT_STATE
               ? kma_load_u32(slab_at(heap, heap->plan.at_states) + region / 8, KMA_RELAXED)
               : 0;
}

// Whether lines may be claimed in a region, by its state word as it was loaded beside the claim.
static inline bool slab_may_claim(const slab_heap *heap, uint region, uint word)
{
    if (!LOOK_AT_STATE || (word >> region % 8 * 4 & 15) == STATE_OPEN)
        return true;
    return slab_open_region(heap->header, region, word);
}

// By one lane: claims at most 64 lines, all in one region.
static inline bool slab_claim_alone(const slab_heap *heap, uint first, uint count)
{
    global kma_atomic_u32 *const used = slab_used(heap);
    const uint low = first >> 5;
    const uint high = (first + count - 1) >> 5;
    uint mask[3], seen[3];
    for (uint i = 0; i < 3; i++) {
        mask[i] = low + i <= high ? slab_line_mask(first, count, low + i) : 0;
        seen[i] = mask[i] != 0 ? kma_fetch_or_u32(&used[low + i], mask[i], KMA_RELAXED) : 0;
    }
    const uint region = first >> REGION_SHIFT;
    const uint state = slab_state_word(heap, region);
    kma_fence(KMA_ACQUIRE);
    const bool is_free = ((seen[0] & mask[0]) | (seen[1] & mask[1]) | (seen[2] & mask[2])) == 0;
    if (is_free && slab_may_claim(heap, region, state))
        return true;
    for (uint i = 0; i < 3; i++)
        if ((mask[i] & ~seen[i]) != 0)
            kma_fetch_and_u32(&used[low + i], ~(mask[i] & ~seen[i]), KMA_RELEASE);
    return false;
}

// The longest run of ones.
static inline uint slab_run_in(uint bits)
{
    const uint twos = bits & bits >> 1;
    const uint fours = twos & twos >> 2;
    const uint eights = fours & fours >> 4;
    uint begins = eights & eights >> 8; // where 16 ones begin
    uint run = begins != 0 ? 16 : 0;
    begins = begins != 0 ? begins : ~0u;
    const uint of_8 = begins & eights >> run;
    run += of_8 != 0 ? 8 : 0;
    begins = of_8 != 0 ? of_8 : begins;
    const uint of_4 = begins & fours >> run;
    run += of_4 != 0 ? 4 : 0;
    begins = of_4 != 0 ? of_4 : begins;
    const uint of_2 = begins & twos >> run;
    run += of_2 != 0 ? 2 : 0;
    begins = of_2 != 0 ? of_2 : begins;
    return run + ((begins & bits >> run) != 0 ? 1 : 0); // 31 for 32, which the caller knows
}

// Puts a region into the line tree of its longest run of free lines. The looks are
// read-modify-writes behind a fence: of two that gave lines back, one sees the other's.
static inline KMA_COLD void slab_list_region(global slab_plan *header, uint region)
{
    const slab_heap heap = slab_open(header);
    global kma_atomic_u32 *const used = slab_used(&heap) + region * REGION_WORDS;
    uint free_lines[REGION_WORDS];
    kma_fence(KMA_ACQ_REL);
#pragma unroll
    for (uint i = 0; i < REGION_WORDS; i++)
        free_lines[i] = ~kma_fetch_or_u32(&used[i], 0, KMA_RELAXED);
    uint best = 0;
    uint run = 0; // up to here
#pragma unroll
    for (uint i = 0; i < REGION_WORDS; i++) {
        const uint bits = free_lines[i];
        const uint lowest = bits == ~0u ? 32 : kma_lowest_bit(~bits);
        best = max(best, max(run + lowest, slab_run_in(bits)));
        run = bits == ~0u ? run + 32 : (uint)clz(~bits);
    }
    best = max(best, run);
    if (best != 0)
        kma_bit_tree_put(slab_line_tree(&heap, slab_class_within(best)), heap.plan.regions, region);
}

// By one lane: gives back at most 64 lines in one region.
static inline void slab_give_back_alone(const slab_heap *heap, uint first, uint count)
{
    global kma_atomic_u32 *const used = slab_used(heap);
    kma_fence(KMA_RELEASE);
    for (uint word = first >> 5; word <= (first + count - 1) >> 5; word++) // three at most
        kma_fetch_and_u32(&used[word], ~slab_line_mask(first, count, word), KMA_RELAXED);
    slab_list_region(heap->header, first >> REGION_SHIFT);
}

// The first of `count` lines in the region that are free side by side, 64 at most; claimed. NONE if
// there are none.
static inline uint slab_claim_in(const slab_heap *heap, uint region, uint count)
{
    global kma_atomic_u32 *const used = slab_used(heap) + region * REGION_WORDS;
    const slab_four low = slab_load_four(used);
    const slab_four high = slab_load_four(used + 4);
    uint begins[REGION_WORDS + 1]; // where `run` free lines begin
    for (uint i = 0; i < 4; i++) {
        begins[i] = ~low.w[i];
        begins[i + 4] = ~high.w[i];
    }
    begins[REGION_WORDS] = 0;
    for (uint run = 1; run < count;) { // six times at most
        const uint more = min(min(run, count - run), 31u);
        for (uint i = 0; i < REGION_WORDS; i++)
            begins[i] &= begins[i] >> more | begins[i + 1] << (32 - more);
        run += more;
    }
    uint at = NONE;
    for (uint i = REGION_WORDS; i-- != 0;)
        at = begins[i] != 0 ? i * 32 + kma_lowest_bit(begins[i]) : at;
    if (at == NONE)
        return NONE;
    const uint first = (region << REGION_SHIFT) + at;
    return slab_claim_alone(heap, first, count) ? first : NONE;
}

// By one lane: lines by the line trees, the shortest runs that do first.
static inline KMA_COLD uint slab_search_lines(global slab_plan *header, uint count)
{
    const slab_heap heap = slab_open(header);
    const uint root = heap.plan.line_tree_words - 1;
    ulong filled = 0; // the trees
    for (uint i = 0; i < LINE_CLASSES; i++)
        filled |= (ulong)(kma_load_u32(slab_line_tree(&heap, i) + root, KMA_RELAXED) != 0) << i;
    const uint near = (slab_shard(&heap) * 4) % heap.plan.regions;
    uint visits = 0;
    for (uint tree = slab_class_of(count); tree < LINE_CLASSES && visits < 24; tree++) {
        if ((filled >> tree & 1) == 0)
            continue;
        global kma_atomic_u32 *const listed = slab_line_tree(&heap, tree);
        for (; visits < 24; visits++) {
            const uint region = kma_bit_tree_find(listed, heap.plan.regions, near);
            if (region == KMA_BIT_TREE_NONE)
                break;
            const uint first = slab_claim_in(&heap, region, count);
            kma_bit_tree_take(listed, heap.plan.regions, region);
            slab_list_region(header, region);
            if (first != NONE)
                return first;
        }
    }
    return NONE;
}

// By one lane: lines at the page cursor. NONE if they are another's.
static inline uint slab_draw_alone(const slab_heap *heap, uint count)
{
    const uint cursor = kma_place() % CURSORS;
    global kma_atomic_u32 *const counter =
        slab_at(heap, heap->plan.at_cursors) + (BAND_PAGES * CURSORS + cursor) * CURSOR_STRIDE;
    for (uint tries = 0; tries < 2; tries++) { // the second time if they would not be in one region
        const uint drawn = kma_fetch_add_u32(counter, count, KMA_RELAXED);
        if ((drawn & (REGION_LINES - 1)) + count > REGION_LINES)
            continue;
        const uint first = slab_counted_line(heap, BAND_PAGES, cursor, drawn);
        return slab_claim_alone(heap, first, count) ? first : NONE;
    }
    return NONE;
}

// ------ class trees ------------------------------------------------------------------------------

// A slab of the frame that has room of a class, the first one from a line on, and its judged word;
// word 0: none.
typedef struct slab_found {
    uint line;
    uint word;
} slab_found;

static inline slab_found slab_look(const slab_heap *heap, uint frame, uint size_class, uint from)
{
    global kma_atomic_u32 *const words = slab_judged(heap) + (frame << FRAME_SHIFT);
    slab_found found = {0, 0};
    uint best = 16;
    for (uint i = 0; i < 16; i += 4) {
        const slab_four four = slab_load_four(words + i);
        for (uint j = 0; j < 4; j++) {
            const uint after = (i + j - from) & 15;
            if (slab_room_of(four.w[j], size_class) != 0 && after < best) {
                best = after;
                found.line = (frame << FRAME_SHIFT) + i + j;
                found.word = four.w[j];
            }
        }
    }
    return found;
}

// Takes a frame that showed no room out of the class's tree, and puts it back if there is some now.
// True if it stays out.
static inline bool slab_take_out(const slab_heap *heap, uint frame, uint size_class)
{
    global kma_atomic_u32 *const tree = slab_class_tree(heap, size_class);
    kma_bit_tree_take(tree, heap->plan.frames, frame);
    if (slab_look(heap, frame, size_class, 0).word == 0)
        return true;
    kma_bit_tree_put(tree, heap->plan.frames, frame);
    return false;
}

// By the lane that filled a listed slab, or ended one.
static inline KMA_COLD void slab_unlist(global slab_plan *header, uint frame, uint size_class)
{
    const slab_heap heap = slab_open(header);
    if (slab_look(&heap, frame, size_class, 0).word == 0)
        slab_take_out(&heap, frame, size_class);
}

static inline void slab_list(const slab_heap *heap, uint frame, uint size_class)
{
    kma_bit_tree_put(slab_class_tree(heap, size_class), heap->plan.frames, frame);
}

// The slab is dead and the caller's: the end of it.
static inline KMA_COLD void slab_end(global slab_plan *header, uint line, uint word)
{
    const slab_heap heap = slab_open(header);
    const uint size_class = slab_class_in(word);
    const uint slots = (word >> 18 & 15) + 1;
    kma_store_u32(&slab_words(&heap)[line], 0, KMA_RELAXED);
    slab_unlist(header, line >> FRAME_SHIFT, size_class);
    slab_give_back_alone(&heap, line, slab_lines_of(slots, slab_class_units(size_class)));
}

// ------ claims of slots --------------------------------------------------------------------------

// What a lane claimed for others of its class, and the class of the slab, which may be a larger
// one.
typedef struct slab_claim {
    uint line;
    uint slots; // 15:0 slots, 21:16 class; 0: nothing
} slab_claim;

#if COUNTED
// Takes back reservations, or those of slots that were freed. The one that leaves none ends the
// slab, unless it is current.
static inline void slab_uncount(const slab_heap *heap, uint line, uint count)
{
    global kma_atomic_u32 *const counts = slab_others(heap);
    const uint before = kma_fetch_add_u32(&counts[line], 0u - count, KMA_ACQ_REL);
    const uint after = before - count;
    if (before >> 24 == 0)
        return;
    const uint size_class = (before >> 24) - 1;
    if ((before & 0xffff) > (before >> 20 & 15))
        slab_list(heap, line >> FRAME_SHIFT, size_class);
    if ((after & 0xffff) != 0 ||
        kma_load_u32(slab_current(heap, size_class, slab_shard(heap)), KMA_RELAXED) == line)
        return;
    if (kma_cas_u32(&counts[line], after, 0, KMA_ACQUIRE) == after)
        slab_end(heap->header, line, slab_equal_word(size_class, (after >> 20 & 15) + 1, 0));
}
#endif

// Claims up to `wanted` slots of a slab whose judged word was seen. Returns the slots; sets *lost
// if others were quicker.
static inline uint slab_claim_slots(const slab_heap *heap, uint line, uint word, uint size_class,
                                    uint wanted, bool *lost)
{
#if COUNTED
    if (slab_uncounted(word, size_class) == 0)
        return 0;
    global kma_atomic_u32 *const bits = &slab_words(heap)[line];
    const uint before = kma_fetch_add_u32(&slab_others(heap)[line], wanted, KMA_ACQUIRE);
    const uint room = slab_uncounted(before, size_class);
    uint left = min(wanted, room);
    uint mine = 0;
    if (left != 0) {
        uint seen = kma_load_u32(bits, KMA_RELAXED);
        for (uint tries = 0; left != 0 && tries < 64; tries++) { // another was quicker each time
            const uint tried = slab_lowest(~seen & slab_all_slots(seen), left);
            if (tried != 0) {
                seen = kma_fetch_or_u32(bits, tried, KMA_ACQUIRE);
                mine |= tried & ~seen;
                left -= (uint)popcount(tried & ~seen);
                seen |= tried;
            } else {
                seen = kma_load_u32(bits, KMA_RELAXED);
            }
        }
        if (room <= wanted)
            slab_unlist(heap->header, line >> FRAME_SHIFT, size_class);
    }
    if ((uint)popcount(mine) != wanted)
        slab_uncount(heap, line, wanted - (uint)popcount(mine));
    *lost = mine == 0;
    return mine;
#else
    for (uint tries = 0; tries < 4; tries++) {
        const uint room = slab_free_slots(word, size_class);
        if (room == 0)
            return 0;
        const uint mine = slab_lowest(room, wanted);
        const uint seen =
            kma_cas_u32(&slab_words(heap)[line], word, (word | mine) & ~KEPT, KMA_ACQUIRE);
        if (seen == word) {
            if (mine == room)
                slab_unlist(heap->header, line >> FRAME_SHIFT, size_class);
            return mine;
        }
        word = seen;
    }
    *lost = true;
    return 0;
#endif
}

#define BY_DRAW 1u // where lines come from
#define BY_SEARCH 2u

// Begins a slab, of whose slots the caller takes `mine`: if others are left, the slab is listed and
// current. Returns its first line, or NONE.
static inline KMA_COLD uint slab_begin(global slab_plan *header, uint size_class, uint slots,
                                       uint mine, uint from)
{
    const slab_heap heap = slab_open(header);
    const uint units = slab_class_units(size_class);
    const uint lines = slab_lines_of(slots, units);
    uint line = NONE;
    if ((from & BY_DRAW) != 0)
        line = slab_draw_alone(&heap, lines);
    if ((from & BY_SEARCH) != 0 && line == NONE)
        line = slab_search_lines(header, lines);
    if (line == NONE)
        return NONE;
    global kma_atomic_u32 *const words = slab_words(&heap) + line;
    uint inner = 0;
    for (uint at = units; at < slots * units; at += units) { // 15 times at most
        if (at >> LINE_SHIFT != inner) {
            inner = at >> LINE_SHIFT;
            kma_store_u32(&words[inner], REST | inner << 20, KMA_RELAXED);
        }
    }
    const uint word = slab_equal_word(size_class, slots, mine);
    if (mine == slab_all_slots(word)) {
        kma_store_u32(words, word, KMA_RELAXED); // a free comes after it by the block
#if COUNTED
        kma_fetch_add_u32(&slab_others(&heap)[line], slab_count_word(size_class, slots, slots),
                          KMA_RELAXED);
#endif
        return line;
    }
    kma_store_u32(words, word, KMA_RELEASE);
#if COUNTED
    kma_fetch_add_u32(&slab_others(&heap)[line],
                      slab_count_word(size_class, slots, (uint)popcount(mine)), KMA_RELEASE);
#endif
    slab_list(&heap, line >> FRAME_SHIFT, size_class);
    kma_store_u32(slab_current(&heap, size_class, slab_shard(&heap)), line, KMA_RELAXED);
    return line;
}

static inline slab_claim slab_claimed(uint line, uint slots, uint size_class)
{
    slab_claim claim;
    claim.line = line;
    claim.slots = slots != 0 ? size_class << 16 | slots : 0;
    return claim;
}

// Slots of listed slabs of a class, from a frame on. Class `named` has the slab as its
// current one then.
static inline KMA_COLD slab_claim slab_claim_listed(global slab_plan *header, uint size_class,
                                                    uint wanted, uint from, uint named)
{
    const slab_heap heap = slab_open(header);
    global kma_atomic_u32 *const tree = slab_class_tree(&heap, size_class);
    const uint shard = slab_shard(&heap);
    uint left = 8; // visits while others are quicker
    for (uint visits = 0; left != 0 && visits < 32; visits++) {
        const uint near = kma_load_u32(&tree[from >> KMA_BIT_TREE_SHIFT], KMA_RELAXED);
        const uint ahead = near & ~(uint)kma_bits_below(from & (KMA_BIT_TREE_FANOUT - 1));
        const uint frame = near != 0 ? (from & ~(KMA_BIT_TREE_FANOUT - 1)) +
                                           kma_lowest_bit(ahead != 0 ? ahead : near)
                                     : kma_bit_tree_find(tree, heap.plan.frames, from);
        if (frame == KMA_BIT_TREE_NONE)
            break;
        const slab_found found = slab_look(&heap, frame, size_class, shard);
        if (found.word != 0) {
            bool lost = false;
            const uint slots =
                slab_claim_slots(&heap, found.line, found.word, size_class, wanted, &lost);
            if (slots != 0) {
                kma_store_u32(slab_current(&heap, named, shard), found.line, KMA_RELAXED);
                return slab_claimed(found.line, slots, size_class);
            }
            left--;
            from = frame + 1 < heap.plan.frames ? frame + 1 : 0;
        } else if (!slab_take_out(&heap, frame, size_class)) {
            left--;
        }
    }
    return slab_claimed(0, 0, 0);
}

// Ends the kept pages of some frames.
static inline KMA_COLD void slab_end_kept(global slab_plan *header)
{
    const slab_heap heap = slab_open(header);
    global kma_atomic_u32 *const tree = slab_class_tree(&heap, KEPT_TREE);
    for (uint visits = 0; visits < 16; visits++) {
        const uint frame =
            kma_bit_tree_find(tree, heap.plan.frames, (slab_shard(&heap) * 64) % heap.plan.frames);
        if (frame == KMA_BIT_TREE_NONE)
            return;
        kma_bit_tree_take(tree, heap.plan.frames, frame);
        for (uint line = frame << FRAME_SHIFT; line < (frame + 1) << FRAME_SHIFT; line++) {
            const uint word = kma_load_u32(&slab_words(&heap)[line], KMA_RELAXED);
            if ((word & FORM) != EQUAL || (word & ANNOUNCED) == 0)
                continue;
            if ((word & KEPT) != 0) {
                if (kma_cas_u32(&slab_words(&heap)[line], word, 0, KMA_ACQUIRE) == word)
                    slab_end(header, line, word);
            } else if ((word & OCCUPANCY) != 0) {
                kma_cas_u32(&slab_words(&heap)[line], word, word & ~ANNOUNCED, KMA_RELAXED);
            }
        }
    }
}

// Where nothing of the class is left, nor lines for a page.
static inline KMA_COLD slab_claim slab_claim_exhausted(global slab_plan *header, uint size_class,
                                                       uint wanted)
{
    for (uint larger = size_class + 1; larger < CLASSES; larger++) {
        const slab_claim claim = slab_claim_listed(header, larger, wanted, 0, larger);
        if (claim.slots != 0)
            return claim;
    }
    slab_end_kept(header);
    const uint line = slab_begin(header, size_class, 1, 1, BY_SEARCH);
    return slab_claimed(line, line != NONE ? 1 : 0, size_class);
}

// Where the current slab has no room, or too many want it: slots of another one, or of a new page.
static inline KMA_COLD slab_claim slab_claim_elsewhere(global slab_plan *header, uint size_class,
                                                       uint wanted, uint hint, bool lost)
{
    const slab_heap heap = slab_open(header);
    const uint shard = slab_shard(&heap);
    if (lost) {
        const uint line = kma_load_u32(slab_current(&heap, size_class, shard ^ 1), KMA_RELAXED);
        const uint word = line != NONE ? kma_load_u32(&slab_judged(&heap)[line], KMA_RELAXED) : 0;
        const uint slots = slab_claim_slots(&heap, line, word, size_class, wanted, &lost);
        if (slots != 0)
            return slab_claimed(line, slots, size_class);
    }
    const uint from = hint != NONE ? hint >> FRAME_SHIFT : shard * 64 % heap.plan.frames;
    const slab_claim listed = slab_claim_listed(header, size_class, wanted, from, size_class);
    if (listed.slots != 0)
        return listed;
    uint slots = slab_page_slots(slab_class_units(size_class));
    uint lines_from = BY_DRAW | BY_SEARCH;
    for (; slots != 0; slots /= 2) { // five times at most
        const uint mine = (uint)kma_bits_below(min(wanted, slots));
        const uint line = slab_begin(header, size_class, slots, mine, lines_from);
        if (line != NONE)
            return slab_claimed(line, mine, size_class);
        lines_from = BY_SEARCH;
    }
    return slab_claim_exhausted(header, size_class, wanted);
}

// Slots for `wanted` lanes, one at least if there are any. `round`: which time the lanes of the
// class ask.
static inline slab_claim slab_claim_some(const slab_heap *heap, uint size_class, uint wanted,
                                         uint round)
{
    if (OWN_PACK != 0 && wanted >= OWN_PACK) {
        const uint slots = min(wanted, 16u);
        const uint all = (uint)kma_bits_below(slots);
        const uint line = slab_begin(heap->header, size_class, slots, all, BY_DRAW);
        if (line != NONE)
            return slab_claimed(line, all, size_class);
    }
    const uint hint = kma_load_u32(slab_current(heap, size_class, slab_shard(heap)), KMA_RELAXED);
    bool lost = false;
    if (hint != NONE && round == 0) {
        const uint word = kma_load_u32(&slab_judged(heap)[hint], KMA_RELAXED);
        const uint slots = slab_claim_slots(heap, hint, word, size_class, wanted, &lost);
        if (slots != 0)
            return slab_claimed(hint, slots, size_class);
    }
    return slab_claim_elsewhere(heap->header, size_class, wanted, hint, lost);
}

// A block of the class, for any lanes that are here. NONE if there is none.
static inline uint slab_malloc_stray(const slab_heap *heap, uint size_class)
{
#if BY_LEADER
    const kma_lanes group = kma_lanes_active();
    kma_lanes left =
        kma_lanes_match(group, size_class, 6); // of my class, the lanes that have nothing yet
    const uint lane = kma_lane_id();
    uint ref = NONE;
    for (uint round = 0; round < 32;
         round++) { // each time one lane of each class is served at least, or all fail
        const uint leader = left != 0 ? kma_lowest_bit(left) : lane;
        slab_claim claim = slab_claimed(0, 0, 0);
        if (left != 0 && lane == leader)
            claim = slab_claim_some(heap, size_class, kma_lanes_count(left), round);
        const uint line = kma_lanes_shuffle(group, claim.line, leader);
        const uint slots = kma_lanes_shuffle(group, claim.slots, leader);
        const uint served = (uint)popcount(slots & 0xffff);
        if (left != 0) {
            const uint rank = kma_lane_rank(left);
            if (ref == NONE && (left >> lane & 1) != 0 && rank < served)
                ref = (line << LINE_SHIFT) +
                      slab_nth(slots & 0xffff, rank) * slab_class_units(slots >> 16);
            for (uint i = 0; i < served; i++) // 16 at most
                left &= left - 1;
            left = served != 0 ? left : 0;
        }
        if (kma_lanes_ballot(group, left != 0) == 0)
            break;
    }
    kma_lanes_sync(group); // the leaders acquired
    return ref;
#else
    const slab_claim claim = slab_claim_some(heap, size_class, 1, 0);
    return claim.slots == 0 ? NONE
                            : (claim.line << LINE_SHIFT) + kma_lowest_bit(claim.slots & 0xffff) *
                                                               slab_class_units(claim.slots >> 16);
#endif
}

// ------ free by any lanes ------------------------------------------------------------------------

// Frees slots of a slab whose line word was seen. False: one of them was free.
static inline bool slab_release(const slab_heap *heap, uint line, uint word, uint slots)
{
    global kma_atomic_u32 *const words = slab_words(heap);
#if COUNTED
    const uint before = kma_fetch_and_u32(&words[line], ~slots, KMA_RELEASE);
    slab_uncount(heap, line, (uint)popcount(before & slots));
    return (before & slots) == slots;
#else
    const uint size_class = slab_class_in(word);
    const uint all = slab_all_slots(word);
    if ((word & OCCUPANCY) == slots && // the last ones
        (KEEP_ALL ||
         kma_load_u32(slab_current(heap, size_class, slab_shard(heap)), KMA_RELAXED) == line)) {
        const uint kept = (word & ~slots) | KEPT | ANNOUNCED;
        if (kma_cas_u32(&words[line], word, kept, KMA_ACQ_REL) == word) {
            if ((word & ANNOUNCED) == 0)
                slab_list(heap, line >> FRAME_SHIFT, KEPT_TREE);
            if (slots == all)
                slab_list(heap, line >> FRAME_SHIFT, size_class);
            return true;
        }
    }
    const uint before = kma_fetch_and_u32(&words[line], ~slots, KMA_ACQ_REL);
    if ((before & ~slots & OCCUPANCY) == 0) {
        if ((before & slots) != 0)
            slab_end(heap->header, line, before);
    } else if ((before & OCCUPANCY) == all) {
        slab_list(heap, line >> FRAME_SHIFT, size_class);
    }
    return (before & slots) == slots;
#endif
}

// False: nothing begins at `ref`, or it is free.
static inline bool slab_free_stray(const slab_heap *heap, uint ref)
{
    uint line = ref >> LINE_SHIFT;
    uint word = kma_load_u32(&slab_words(heap)[line], KMA_RELAXED);
    if ((word & FORM) == REST) {
        line -= word >> 20 & 255;
        word = kma_load_u32(&slab_words(heap)[line], KMA_RELAXED);
    }
    const uint units = slab_class_units(slab_class_in(word));
    const uint offset = ref - (line << LINE_SHIFT);
    const uint slot = (uint)((float)offset / (float)units + 0.5f); // exact: below 4,096
    const bool is_right =
        (word & FORM) == EQUAL && slot * units == offset && slot < 16 && (word >> slot & 1) != 0;
    uint slots = is_right ? 1u << slot : 0;
#if BY_LEADER
    const kma_lanes group = kma_lanes_active();
    const kma_lanes same = kma_lanes_match(group, line, 32);
    slots = kma_lanes_or(group, same, slots);
    kma_lanes_sync(group); // the leader's release stands for all
    if (!kma_lane_leads(same))
        return is_right;
#endif
    return slots != 0 && slab_release(heap, line, word, slots) && is_right;
}

// ------ whole warps ------------------------------------------------------------------------------

#if TOGETHER && KMA_SHORT_PATHS
#define HAS_WARPS 1
#else
#define HAS_WARPS 0
#endif

#if HAS_WARPS
#define TEAMS (32u / TEAM)

// Of lines [first, first + count): those in the used word of number `me`, counted from the first's.
static inline uint slab_mask_of(uint first, uint count, uint me)
{
    const uint word = (first >> 5) + me;
    return word <= (first + count - 1) >> 5 ? slab_line_mask(first, count, word) : 0;
}

// By all lanes: claims lines, 992 at most.
static inline bool slab_claim_together(const slab_heap *heap, uint first, uint count)
{
    const uint lane = kma_lane_of_all();
    const uint mask = slab_mask_of(first, count, lane);
    const uint word = (first >> 5) + lane;
    global kma_atomic_u32 *const used = slab_used(heap);
    uint seen = 0;
    bool failed = false;
    if (mask != 0) {
        seen = kma_fetch_or_u32(&used[word], mask, KMA_RELAXED);
        const uint region = word / REGION_WORDS;
        const uint state = slab_state_word(heap, region);
        kma_fence(KMA_ACQUIRE);
        failed = (seen & mask) != 0 || !slab_may_claim(heap, region, state);
    }
    if (kma_lanes_ballot(KMA_LANES_ALL, failed) == 0)
        return true;
    if ((mask & ~seen) != 0)
        kma_fetch_and_u32(&used[word], ~(mask & ~seen), KMA_RELEASE);
    return false;
}

// By all lanes: a share was drawn to its end. Its regions leave line tree 47, but for those that
// are not full.
static inline KMA_COLD void slab_end_share(global slab_plan *header, uint share_first, uint shift)
{
    const slab_heap heap = slab_open(header);
    const kma_lanes group = kma_lanes_active();
    global kma_atomic_u32 *const tree = slab_line_tree(&heap, LINE_CLASSES - 1);
    const uint region =
        share_first >> REGION_SHIFT; // with the share's others in one word of the tree
    const uint regions = 1u << (shift - REGION_SHIFT);
    const uint mask = (uint)kma_bits_below(regions) << region % 32;
    if (kma_lane_leads(group))
        kma_bit_tree_take_all(tree, heap.plan.regions, region / 32, mask);
    kma_lanes_sync(group);
    uint not_full = 0;
    for (uint i = kma_lane_rank(group); i < regions * REGION_WORDS;
         i += kma_lanes_count(group)) { // four times
        const uint bits =
            kma_fetch_or_u32(&slab_used(&heap)[region * REGION_WORDS + i], 0, KMA_RELEASE);
        not_full |= bits != ~0u ? 1u << (region + i / REGION_WORDS) % 32 : 0;
    }
    not_full = kma_lanes_or(group, group, not_full);
    if (not_full != 0 && kma_lane_leads(group))
        kma_bit_tree_put_all(tree, heap.plan.regions, region / 32, not_full);
}

// By all lanes: lines at the cursor, claimed; NONE if they were another's.
static inline uint slab_draw_together(const slab_heap *heap, uint count)
{
    const uint band = count <= FEW_LINES ? BAND_FEW : BAND_MANY;
    const uint shift = slab_share_shift(band);
    const uint share = 1u << shift;
    uint first = NONE;
    uint ended = NONE; // the share that this draw brought to its end
    if (kma_lane_of_all() == 0) {
        const uint cursor = kma_place() % CURSORS;
        global kma_atomic_u32 *const counter =
            slab_at(heap, heap->plan.at_cursors) + (band * CURSORS + cursor) * CURSOR_STRIDE;
        for (uint tries = 0; tries < 2 && first == NONE;
             tries++) { // the second time behind a share's end
            const uint drawn = kma_fetch_add_u32(counter, count, KMA_RELAXED);
            const uint line = slab_counted_line(heap, band, cursor, drawn);
            const uint end = (drawn & (share - 1)) + count;
            first = end <= share ? line : NONE;
            ended = end >= share ? line & ~(share - 1) : ended;
        }
    }
    first = kma_lanes_first(KMA_LANES_ALL, first);
    const bool is_mine = first != NONE && slab_claim_together(heap, first, count);
    if (SHARE_END) {
        ended = kma_lanes_first(KMA_LANES_ALL, ended);
        if (ended != NONE)
            slab_end_share(heap->header, ended, shift);
    }
    return is_mine ? first : NONE;
}

// By all lanes, which want one class.
static inline uint slab_malloc_warp(const slab_heap *heap, uint size_class)
{
    const uint lane = kma_lane_of_all();
    const uint slot = lane % TEAM;
    const uint units = slab_class_units(size_class);
    const uint lines = slab_lines_of(TEAM, units);
    uint line = slab_draw_together(heap, lines * TEAMS);
    if (line == NONE)
        return NONE;
    line += lane / TEAM * lines;
    kma_lanes_sync(KMA_LANES_ALL); // the lanes that claimed acquired
    const uint offset = slot * units;
    const uint inner = offset >> LINE_SHIFT;
#if WIDE_LINES
    if (slot == 0)
        kma_store_u32(&slab_words(heap)[line], ~0u, KMA_RELAXED);
    if (slot == 0 || inner != (offset - units) >> LINE_SHIFT)
        kma_store_u32(&slab_others(heap)[line + inner],
                      slot == 0 ? slab_equal_word(size_class, 16, 1) : REST | inner << 20,
                      KMA_RELAXED);
#else
    if (slot == 0 || inner != (offset - units) >> LINE_SHIFT)
        kma_store_u32(&slab_words(heap)[line + inner],
                      slot == 0 ? slab_equal_word(size_class, TEAM, OCCUPANCY) : REST | inner << 20,
                      KMA_RELAXED);
#if COUNTED
    if (slot == 0)
        kma_fetch_add_u32(&slab_others(heap)[line], slab_count_word(size_class, TEAM, TEAM),
                          KMA_RELAXED);
#endif
#endif
    return (line << LINE_SHIFT) + offset;
}

#if WIDE_LINES
#define TEAM_BITS(lanes, team) (lanes)
#define TEAM_ALL 0xffffffffu
#else
#define TEAM_BITS(lanes, team) ((uint)(lanes) >> (team)*16 & 0xffff)
#define TEAM_ALL 0xffffu
#endif

// By all lanes, each of which wants something, of classes up to 127 units.
static inline uint slab_malloc_mixed(const slab_heap *heap, uint size_class)
{
    const uint lane = kma_lane_of_all();
    const uint team = lane / TEAM;
    const uint slot = lane % TEAM;
    const uint below = (uint)kma_bits_below(slot);
    const uint less = slab_class_units(size_class) - 1; // what the planes hold
    uint offset = slot;
    uint total = TEAM;
    uint planes = 0;
    uint mine = 0; // the plane that this lane stores
    for (uint i = 0; i < 7; i++) {
        const uint plane = TEAM_BITS(kma_lanes_ballot(KMA_LANES_ALL, (less >> i & 1) != 0), team);
        offset += (uint)popcount(plane & below) << i;
        total += (uint)popcount(plane) << i;
        planes = plane != 0 ? i + 1 : planes;
        mine = slot == i + 1 ? plane : mine;
    }
    const uint lines = max((total + LINE_UNITS - 1) >> LINE_SHIFT, planes + 1);
    const uint before = kma_lanes_first(KMA_LANES_ALL, lines); // the first team's
    const uint all = TEAMS == 1 ? lines : before + kma_lanes_shuffle(KMA_LANES_ALL, lines, 31);
    uint line = slab_draw_together(heap, all);
    if (line == NONE)
        return NONE;
    line += team != 0 ? before : 0;
    kma_lanes_sync(KMA_LANES_ALL);
    // Offsets grow, and a lane's offset by its own size only: the lane before in the team tells
    // where its block begins.
    const uint previous =
        kma_lanes_shuffle(KMA_LANES_ALL, offset, slot != 0 ? lane - 1 : lane) >> LINE_SHIFT;
    const uint inner = offset >> LINE_SHIFT;
    const uint control = MIXED | (lines - 1) << 20 | planes << 17 | 1u << 16;
#if WIDE_LINES
    if (slot == 0)
        kma_store_u32(&slab_others(heap)[line], control, KMA_RELAXED);
    if (slot <= planes)
        kma_store_u32(&slab_words(heap)[line + slot], slot == 0 ? ~0u : mine, KMA_RELAXED);
    if (slot != 0 && inner != previous)
        kma_store_u32(&slab_others(heap)[line + inner], REST | inner << 20, KMA_RELAXED);
#else
    if (slot <= planes)
        kma_store_u32(&slab_words(heap)[line + slot],
                      slot == 0 ? control | OCCUPANCY : REST | REST_MIXED | slot << 20 | mine,
                      KMA_RELAXED);
    if (inner > planes && inner != previous)
        kma_store_u32(&slab_words(heap)[line + inner], REST | REST_MIXED | inner << 20,
                      KMA_RELAXED);
#endif
    return (line << LINE_SHIFT) + offset;
}

// By all lanes: frees what whole teams got together, if it comes in order. False in the lanes of
// the others.
static inline bool slab_free_warp(const slab_heap *heap, uint ref)
{
    const uint lane = kma_lane_of_all();
    const uint team = lane / TEAM;
    const uint slot = lane % TEAM;
    const uint leader = team * TEAM;
    const uint line = kma_lanes_shuffle(KMA_LANES_ALL, ref, leader) >> LINE_SHIFT;
    // The first words of the slab, in one step: if it is mixed, its planes are among them.
    const uint word = kma_load_u32(&slab_words(heap)[line + min(slot, 7u)], KMA_RELAXED);
#if WIDE_LINES
    const uint control = kma_load_u32(&slab_others(heap)[line], KMA_RELAXED);
    const uint owners = kma_lanes_shuffle(KMA_LANES_ALL, word, leader);
    const bool is_full = owners == ~0u;
    const bool is_equal = (control & FORM) == EQUAL;
#else
    const uint control = kma_lanes_shuffle(KMA_LANES_ALL, word, leader);
    const bool is_equal = (control & FORM) == EQUAL;
    const bool is_full = (control & OCCUPANCY) == OCCUPANCY;
#endif
    const bool is_mixed = (control & (FORM | 1u << 16)) == (MIXED | 1u << 16);
    uint lines = slab_lines_of(TEAM, slab_class_units(slab_class_in(control)));
    uint offset = slot * slab_class_units(slab_class_in(control));
    if (kma_lanes_ballot(KMA_LANES_ALL, is_mixed) != 0) {
        const uint planes = control >> 17 & 7;
        const uint below = (uint)kma_bits_below(slot);
        uint at = slot;
        for (uint i = 0; i < 7; i++) {
            const uint plane = kma_lanes_shuffle(KMA_LANES_ALL, word, leader + 1 + i) & TEAM_ALL;
            at += i < planes ? (uint)popcount(plane & below) << i : 0;
        }
        offset = is_mixed ? at : offset;
        lines = is_mixed ? (control >> 20 & 255) + 1 : lines;
    }
    const bool is_right = is_full && (is_equal || is_mixed) && ref == (line << LINE_SHIFT) + offset;
    const uint right = TEAM_BITS(kma_lanes_ballot(KMA_LANES_ALL, is_right), team);
    kma_lanes_sync(KMA_LANES_ALL); // the leaders' releases stand for all
    bool has_ended = false;
    if (slot == 0 && right == TEAM_ALL) {
#if WIDE_LINES
        has_ended = kma_cas_u32(&slab_words(heap)[line], ~0u, 0, KMA_RELAXED) == ~0u;
#elif COUNTED
        const uint counted = slab_count_word(slab_class_in(control), TEAM, TEAM);
        has_ended = kma_cas_u32(&slab_others(heap)[line], counted, 0, KMA_RELAXED) == counted;
        if (has_ended)
            kma_store_u32(&slab_words(heap)[line], 0, KMA_RELAXED);
#else
        has_ended = kma_cas_u32(&slab_words(heap)[line], control, 0, KMA_RELAXED) == control;
#endif
    }
    const uint ended = kma_lanes_ballot(KMA_LANES_ALL, has_ended);
    const bool is_mine = (ended >> leader & 1) != 0;
    // One give back for both teams if their lines are side by side.
    uint first = line;
    uint count = lines;
    uint me = slot;
#if TEAM == 16u
    const uint low = kma_lanes_first(KMA_LANES_ALL, line);
    const uint low_lines = kma_lanes_first(KMA_LANES_ALL, lines);
    const uint high = kma_lanes_shuffle(KMA_LANES_ALL, line, 31);
    const uint high_lines = kma_lanes_shuffle(KMA_LANES_ALL, lines, 31);
    if (ended == 0x00010001u && high == low + low_lines) {
        first = low;
        count = low_lines + high_lines;
        me = lane;
    }
#endif
    const uint mask = is_mine ? slab_mask_of(first, count, me) : 0;
    if (mask != 0) {
        const uint used_word = (first >> 5) + me;
        const uint region = used_word / REGION_WORDS;
        // Acquires, too: a lane that took the region out before it looked there is seen to have
        // done so.
        kma_fetch_and_u32(&slab_used(heap)[used_word], ~mask, KMA_ACQ_REL);
        global kma_atomic_u32 *const tree = slab_line_tree(heap, LINE_CLASSES - 1);
        if (!kma_bit_tree_has(tree, region))
            kma_bit_tree_put(tree, heap->plan.regions, region);
    }
    return is_mine;
}
#endif

// ------ malloc and free --------------------------------------------------------------------------

static inline uint slab_malloc(const slab_heap *heap, uint bytes)
{
    const uint size_class = slab_class_of((bytes + 15) / 16);
#if HAS_WARPS
    if (kma_lanes_active() == KMA_LANES_ALL) {
        const uint firsts = kma_lanes_first(KMA_LANES_ALL, size_class);
        uint ref = NONE;
        if (kma_lanes_ballot(KMA_LANES_ALL, size_class == firsts) == KMA_LANES_ALL)
            ref = slab_malloc_warp(heap, size_class);
#if WITH_MIXED
        else
            ref = slab_malloc_mixed(heap, size_class);
#endif
        if (ref != NONE)
            return ref;
    }
#endif
#if STRAY
    return slab_malloc_stray(heap, size_class);
#else
    return NONE;
#endif
}

static inline bool slab_free(const slab_heap *heap, uint ref)
{
#if HAS_WARPS
    if (kma_lanes_active() == KMA_LANES_ALL && slab_free_warp(heap, ref))
        return true;
#endif
#if STRAY
    return slab_free_stray(heap, ref);
#else
    return false;
#endif
}

// ------ the work ---------------------------------------------------------------------------------

#define NULLS 0 // counts
#define ERRORS 1
#define USED 2  // lines, by used bits
#define OWNED 3 // lines, by line words
#define BLOCKS 4
#define HIDDEN 5 // slabs with free slots that no tree tells of

// FLOOR: blocks without a heap, each work-item its own: what the work itself takes.
#if FLOOR
#define WORK_MALLOC(heap, bytes, me) ((me)*64)
#define WORK_FREE(heap, ref) true
#else
#define WORK_MALLOC(heap, bytes, me) slab_malloc(heap, bytes)
#define WORK_FREE(heap, ref) slab_free(heap, ref)
#endif

// A block's first and last word tell its owner.
static inline void slab_sign(const slab_heap *heap, uint ref, uint bytes, uint owner)
{
    global uint *const block = slab_memory(heap, ref);
    block[0] = owner;
    block[bytes / 4 - 1] = owner;
}

static inline bool slab_is_signed(const slab_heap *heap, uint ref, uint bytes, uint owner)
{
    const global uint *const block = slab_memory(heap, ref);
    return block[0] == owner && block[bytes / 4 - 1] == owner;
}

static inline uint work_bytes(uint random, uint low, uint span)
{
    return span > 1 ? (low + kma_mix32(random) % span) & ~3u : low;
}

kernel void init(global slab_plan *header)
{
    const slab_heap heap = slab_open(header);
    const uint begin = heap.plan.at_cursors;
    const uint current_end = heap.plan.at_current + CLASSES * (heap.plan.shard_mask + 1);
    for (size_t i = begin + get_global_id(0); i < heap.plan.end; i += get_global_size(0))
        heap.base[i] = i >= heap.plan.at_current && i < current_end ? NONE : 0;
}

// After init: every region is listed as unknown.
kernel void init_trees(global slab_plan *header)
{
    const slab_heap heap = slab_open(header);
    kma_bit_tree_init(slab_line_tree(&heap, LINE_CLASSES - 1), heap.plan.regions, heap.plan.regions,
                      get_global_id(0), get_global_size(0));
}

#if TRIAL_A
// One kernel of steady or sparse. A work-item takes a block if its random number is below
// `take_below`, and frees an old one, where it has one, if that is below `give_below`. steady: one
// array; only a work-item without a block takes one. sparse: `given` is what was taken two kernels
// ago.
kernel void work(global slab_plan *header, global uint *taken, global uint *taken_sizes,
                 global uint *given, global const uint *given_sizes, uint is_steady,
                 uint take_below, uint give_below, uint low, uint span, uint seed,
                 volatile global uint *counts)
{
    const slab_heap heap = slab_open(header);
    const uint me = (uint)get_global_id(0);
    const uint random = kma_mix32(kma_mix32(me) + seed);
    const uint old = given[me];
    const bool takes = random < take_below && (is_steady == 0 || old == NONE);
    const bool gives = random < give_below && old != NONE;
    const uint old_bytes = gives ? given_sizes[me] : 4;
    if (takes) {
        const uint bytes = work_bytes(random, low, span);
        const uint mine = WORK_MALLOC(&heap, bytes, me);
        taken[me] = mine;
        taken_sizes[me] = bytes;
        if (mine == NONE)
            atomic_inc(&counts[NULLS]);
        else
            slab_sign(&heap, mine, bytes, me);
    } else if (is_steady == 0) {
        taken[me] = NONE;
    }
    if (gives) {
        if (!slab_is_signed(&heap, old, old_bytes, me))
            atomic_inc(&counts[ERRORS]);
        const bool is_freed = WORK_FREE(&heap, old);
        if (!is_freed)
            atomic_inc(&counts[ERRORS]);
        given[me] = NONE;
    }
}

// Each work-item: pairs of malloc and free. verify: each block outlives the next malloc, and is
// looked at.
kernel void pairs(global slab_plan *header, uint turns, uint bytes, uint verified,
                  volatile global uint *counts)
{
    const slab_heap heap = slab_open(header);
    const uint me = (uint)get_global_id(0);
    uint nulls = 0;
    uint errors = 0;
    uint before = NONE;
    for (uint turn = 0; turn <= turns; turn++) { // the last one only frees
        uint mine = NONE;
        if (turn < turns) {
            mine = WORK_MALLOC(&heap, bytes, me);
            nulls += mine == NONE ? 1 : 0;
        }
        if (verified != 0 && mine != NONE)
            slab_sign(&heap, mine, bytes, me * turns + turn);
        else if (mine != NONE)
            *(global uchar *)slab_memory(&heap, mine) = (uchar)turn;
        const uint old = verified != 0 ? before : mine;
        before = mine;
        if (old != NONE) {
            if (verified != 0 && !slab_is_signed(&heap, old, bytes, me * turns + turn - 1))
                errors++;
            const bool is_freed = WORK_FREE(&heap, old);
            errors += is_freed ? 0 : 1;
        }
    }
    if (nulls != 0)
        atomic_add(&counts[NULLS], nulls);
    if (errors != 0)
        atomic_add(&counts[ERRORS], errors);
}

#else

kernel void allocate(global slab_plan *header, global uint *refs, uint low, uint span)
{
    const slab_heap heap = slab_open(header);
    const uint me = (uint)get_global_id(0);
    refs[me] = WORK_MALLOC(&heap, work_bytes(me, low, span), me);
}

kernel void release(global slab_plan *header, global const uint *refs, volatile global uint *counts)
{
    const slab_heap heap = slab_open(header);
    const uint ref = refs[get_global_id(0)];
    if (!WORK_FREE(&heap, ref))
        atomic_inc(&counts[ERRORS]);
}

// Writes the owners into blocks that `allocate` took.
kernel void sign_blocks(global slab_plan *header, global const uint *refs, uint low, uint span,
                        volatile global uint *counts)
{
    const slab_heap heap = slab_open(header);
    const uint me = (uint)get_global_id(0);
    if (refs[me] == NONE)
        atomic_inc(&counts[NULLS]);
    else
        slab_sign(&heap, refs[me], work_bytes(me, low, span), me);
}

kernel void verify_blocks(global slab_plan *header, global const uint *refs, uint low, uint span,
                          volatile global uint *counts)
{
    const slab_heap heap = slab_open(header);
    const uint me = (uint)get_global_id(0);
    if (refs[me] != NONE && !slab_is_signed(&heap, refs[me], work_bytes(me, low, span), me))
        atomic_inc(&counts[ERRORS]);
}

#endif

// At rest: counts used lines, lines and blocks of slabs, and slabs with free slots that the tree of
// their class hides.
kernel void check(global slab_plan *header, volatile global uint *counts)
{
    const slab_heap heap = slab_open(header);
    uint used = 0, owned = 0, blocks = 0, hidden = 0;
    for (uint line = (uint)get_global_id(0); line < heap.plan.lines;
         line += (uint)get_global_size(0)) {
        used += kma_load_u32(&slab_used(&heap)[line >> 5], KMA_RELAXED) >> line % 32 & 1;
#if !WIDE_LINES
        const uint word = kma_load_u32(&slab_words(&heap)[line], KMA_RELAXED);
        if ((word & FORM) == MIXED && (word & OCCUPANCY) != 0)
            owned += (word >> 20 & 255) + 1;
#if COUNTED
        const uint count = kma_load_u32(&slab_others(&heap)[line], KMA_RELAXED);
        const bool is_living = count != 0;
        hidden += is_living && (count & 0xffff) != (uint)popcount(word & OCCUPANCY) ? 1 : 0;
#else
        const bool is_living = (word & (KEPT | OCCUPANCY)) != 0;
#endif
        if ((word & FORM) == EQUAL && is_living) {
            const uint slots = (word >> 18 & 15) + 1;
            const uint size_class = slab_class_in(word);
            owned += slab_lines_of(slots, slab_class_units(size_class));
            blocks += (uint)popcount(word & OCCUPANCY);
            const bool has_room = (word & OCCUPANCY) != slab_all_slots(word);
            hidden += has_room && !kma_bit_tree_has(slab_class_tree(&heap, size_class),
                                                    line >> FRAME_SHIFT)
                          ? 1
                          : 0;
        }
#endif
    }
    atomic_add(&counts[USED], used);
    atomic_add(&counts[OWNED], owned);
    atomic_add(&counts[BLOCKS], blocks);
    atomic_add(&counts[HIDDEN], hidden);
}
