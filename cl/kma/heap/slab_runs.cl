// Blocks that have a slab of their own, for one who found no room otherwise, or whose block is larger than those that
// lanes share: lines side by side, one slot.
#ifndef KMA_HEAP_SLAB_RUNS_CL
#define KMA_HEAP_SLAB_RUNS_CL

#include "kma/heap/slab_cursors.cl"
#include "kma/heap/slab_gaps.cl"
#include "kma/heap/slab_heads.cl"
#include "kma/heap/slab_long.cl"

// Makes a slab of lines of the caller's own: one block of all of them.
static inline KMA_COLD kma_ref kma_sl_make_run(global kma_slab *heap, uint first, uint lines)
{
    const kma_sl_heap sl = kma_sl_open(heap);
    kma_store_u32(kma_sl_word(&sl, first + 1), kma_sl_run_header(lines), KMA_RELAXED);
    kma_store_u32(kma_sl_word(&sl, first), 1u, KMA_RELEASE); // others may take that for a head's slab (slab_heads.cl)
    kma_sl_put_mark(&sl, first, KMA_SL_MARK_HEADER);
    return sl.plan.begin + first * KMA_SL_LINE;
}

// Makes a run, whose form the caller has as its block is his, longer: whether there were free lines behind it.
static inline bool kma_sl_extend(const kma_sl_heap *sl, uint first, uint lines, uint longer)
{
    if (longer > kma_sl_lines(sl) - first || !kma_sl_take_lines(sl->heap, first + lines, longer - lines))
        return false;
    kma_store_u32(kma_sl_word(sl, first + 1), kma_sl_run_header(longer), KMA_RELAXED);
    return true;
}

// Whether a class serves blocks at multiples of `align` units.
static inline bool kma_sl_is_aligned(uint size_class, uint align)
{
    return kma_sl_units(size_class) % align == 0;
}

// ------ alone -----------------------------------------------------------------------------------------------------

// The fewest lines of a slab of a class.
static inline uint kma_sl_fewest_lines(uint size_class)
{
    const uint units = kma_sl_units(size_class);
    return units == 1 ? 1 : max(kma_sl_whole_lines(units), 2u);
}

// Makes a slab of a class of so many lines of the caller's own: a block of it, the others are holes.
static inline KMA_COLD kma_ref kma_sl_make_few(global kma_slab *heap, uint size_class, uint first, uint count)
{
    const kma_sl_heap sl = kma_sl_open(heap);
    const uint units = kma_sl_units(size_class);
    const uint slots = min(count * KMA_SL_LINE / units, KMA_SL_SLOTS);
    kma_sl_make(&sl, first, count, units, slots, slots == 1 ? 1u : 3u);
    if (slots != 1) // so that the others are listed
        kma_sl_let_go(heap, first, 2u, true);
    return sl.plan.begin + first * KMA_SL_LINE;
}

// What a lane alone tries, one after the other, until it has a block.
#define KMA_SL_STEP_HOLE  0u // of its class
#define KMA_SL_STEP_NEAR  1u // heads, and new slabs for them; for a run the lines that are its turn
#define KMA_SL_STEP_ENTER 2u // from here on anywhere in the heap. Few go there at a time; the others get nothing.
#define KMA_SL_STEP_LINES 3u // the fewest lines for a block of the class, or those of a run
#define KMA_SL_STEP_IDLE  4u // slabs at heads that nobody else uses end
#define KMA_SL_STEP_AGAIN 5u // lines
#define KMA_SL_STEP_HOLES 6u // of each class that may have one so large, from the block's own on
#define KMA_SL_STEP_OFF   7u // all slabs are taken off heads
#define KMA_SL_STEP_LAST  8u // lines: slabs may have ended that only heads owned, more than one
#define KMA_SL_STEP_THESE 9u // holes, as before
#define KMA_SL_STEP_END   10u

#define KMA_SL_ALONE_LOOKS 64u // at chunks for a hole of the class
#define KMA_SL_ENTERS      64u // how often who may not go on from there begins anew

static inline bool kma_sl_step_looks_for_lines(uint step)
{
    return step == KMA_SL_STEP_LINES || step == KMA_SL_STEP_AGAIN || step == KMA_SL_STEP_LAST;
}

static inline bool kma_sl_step_looks_for_holes(uint step)
{
    return step == KMA_SL_STEP_HOLES || step == KMA_SL_STEP_THESE;
}

// Lines for a block.
static inline uint kma_sl_step_count(const kma_sl_search *search)
{
    return search->own_class == KMA_SL_CLASSES ? max(kma_sl_whole_lines(search->units), 2u)
                                               : kma_sl_fewest_lines(search->own_class);
}

// Lines for a block, and a slab of them.
static inline KMA_COLD void kma_sl_step_lines(kma_sl_search *search)
{
    const bool is_run = search->own_class == KMA_SL_CLASSES;
    const uint count = kma_sl_step_count(search);
    const uint align = is_run ? max(search->align >> KMA_SL_LINE_SHIFT, 1u) : 1;
    const uint first = count > KMA_SL_SHORT ? kma_sl_seek_long(search->heap, count, align)
                                            : kma_sl_seek(search->heap, count, align);
    if (first == KMA_SL_NONE)
        return;
    search->block = is_run ? kma_sl_make_run(search->heap, first, count)
                           : kma_sl_make_few(search->heap, search->own_class, first, count);
}

#ifndef KMA_SL_RUN_DRAWS
#define KMA_SL_RUN_DRAWS 4u // of a run; the end of a share is one, too
#endif

// Lines where the caller's place takes some; KMA_SL_NONE if they are taken time and again.
static inline KMA_COLD uint kma_sl_draw_run(global kma_slab *heap, uint count)
{
    for (uint draws = KMA_SL_RUN_DRAWS; draws != 0; draws--) {
        const uint drawn = kma_sl_draw_called(heap, count);
        if (drawn == KMA_SL_NONE)
            continue;
        if (kma_sl_take_lines(heap, drawn, count))
            return drawn;
        kma_sl_move_cursor(heap, kma_sl_band_for(count), drawn);
    }
    return KMA_SL_NONE;
}

// A run without a search through the heap: the next one of it, or if that is taken, where the caller's place takes lines, or if
// it is shorter than a chunk, in a gap. A long one has to be searched for; lines are drawn for it by who may not do that.
static inline KMA_COLD void kma_sl_step_run(kma_sl_search *search)
{
    const uint count = kma_sl_step_count(search);
    if (search->align > KMA_SL_LINE || kma_sl_is_scarce(search->heap, count))
        return;
    uint first = KMA_SL_NONE;
    if (count <= KMA_SL_SHORT)
        first = kma_sl_next_run(search->heap, count);
    else if (search->tries != KMA_SL_ENTERS)
        first = kma_sl_draw_long(search->heap, count);
    if (first == KMA_SL_NONE && count <= KMA_SL_DRAWN)
        first = kma_sl_draw_run(search->heap, count);
    if (first == KMA_SL_NONE && count <= KMA_SL_LINE)
        first = kma_sl_look(search->heap, count, KMA_SL_LOOKS);
    if (first != KMA_SL_NONE)
        search->block = kma_sl_make_run(search->heap, first, count);
}

// Where holes for a block are looked for first: in its class, or for a run in the last one, which has all larger slots.
static inline uint kma_sl_first_class(const kma_sl_search *search)
{
    return min(search->own_class, KMA_SL_CLASSES - 1);
}

// After a look at the holes of a class: the next one that has some, up to the last, then from the lowest in which a slot may be large
// enough up to the first. Whether there is one.
static inline bool kma_sl_step_class(kma_sl_search *search)
{
    const kma_sl_heap sl = kma_sl_open(search->heap);
    for (bool goes_on = true; goes_on;) { // once for each class at most
        search->size_class++;
        if (search->size_class == KMA_SL_CLASSES)
            search->size_class = kma_sl_class_within(search->units);
        goes_on = search->size_class != kma_sl_first_class(search) && !kma_sl_has_holes(&sl, search->size_class);
    }
    return search->size_class != kma_sl_first_class(search);
}

// Whether the caller may go through the whole heap.
static inline KMA_COLD bool kma_sl_enter(global kma_slab *heap)
{
    if (kma_load_u32(&heap->seekers, KMA_RELAXED) >= KMA_SL_SEEKERS)
        return false;
    if (kma_fetch_add_u32(&heap->seekers, 1, KMA_RELAXED) < KMA_SL_SEEKERS)
        return true;
    kma_fetch_add_u32(&heap->seekers, ~0u, KMA_RELAXED);
    return false;
}

// A hole for a block of so many units, if one is found soon: first of the class below, where those of the very size are that
// lanes together got, then of its class.
static inline void kma_sl_fill_soon(kma_sl_search *search, uint looks)
{
    search->size_class = kma_sl_class_within(search->units);
    if (search->size_class != search->own_class)
        kma_sl_fill(search, looks);
    search->size_class = search->own_class;
    if (search->block == KMA_NULL)
        kma_sl_fill(search, looks);
}

// The same, of one who need not have it.
static inline KMA_COLD kma_ref kma_sl_take_hole(global kma_slab *heap, uint units)
{
    kma_sl_search search;
    search.heap = heap;
    search.units = units;
    search.align = 1;
    search.block = KMA_NULL;
    search.own_class = kma_sl_class_of(units);
    search.count = 1;
    search.for_head = false;
    kma_sl_fill_soon(&search, KMA_SL_HOLE_LOOKS);
    return search.block;
}

// A block for the caller alone: of `units`, at a multiple of `align` units; of a class, or (KMA_SL_CLASSES) a run. KMA_NULL
// at out of memory. Not `any_size`: no larger one than of its class.
static inline KMA_COLD kma_ref kma_sl_take_alone(global kma_slab *heap, uint units, uint align, uint size_class,
                                                 bool any_size)
{
    kma_sl_search search;
    search.heap = heap;
    search.units = units;
    search.own_class = size_class;
    search.align = align;
    search.block = KMA_NULL;
    search.size_class = kma_sl_first_class(&search);
    search.count = 1;
    search.for_head = false;
    search.tries = KMA_SL_ENTERS;
    search.step = KMA_SL_STEP_HOLE;
    const uint end = any_size ? KMA_SL_STEP_END : KMA_SL_STEP_HOLES;
    const bool is_run = size_class == KMA_SL_CLASSES, may_share = units <= KMA_SL_MOST_EQUAL; // the largest slot of several
    while (search.block == KMA_NULL && search.step < end) { // a step further each time, or a class
        const bool all_holes = kma_sl_step_looks_for_holes(search.step);
        if (search.step == KMA_SL_STEP_ENTER && !kma_sl_enter(search.heap)) {
            if (search.tries-- == 0 || kma_sl_is_scarce(heap, kma_sl_step_count(&search)))
                return KMA_NULL;
            search.step = KMA_SL_STEP_HOLE;
            continue;
        }
        if (search.step == KMA_SL_STEP_NEAR && !is_run)
            search.block =
                kma_sl_block_of(heap->plan.begin, kma_sl_from_heads(search.heap, search.own_class, search.align, 1, true), 0);
        else if (search.step == KMA_SL_STEP_NEAR)
            kma_sl_step_run(&search);
        if (search.step == KMA_SL_STEP_IDLE || search.step == KMA_SL_STEP_OFF)
            kma_sl_take_off(search.heap, search.step == KMA_SL_STEP_IDLE);
        if (kma_sl_step_looks_for_lines(search.step))
            kma_sl_step_lines(&search);
        if (search.step == KMA_SL_STEP_HOLE && !is_run)
            kma_sl_fill_soon(&search, KMA_SL_ALONE_LOOKS);
        // A run looks for lines first, unless there are none.
        const bool soon = search.step == KMA_SL_STEP_HOLE && is_run && kma_sl_is_scarce(heap, kma_sl_step_count(&search));
        if (may_share && (all_holes || soon))
            kma_sl_fill(&search, all_holes ? KMA_SL_ALL_LOOKS : KMA_SL_ALONE_LOOKS);
        if (may_share && all_holes && search.block == KMA_NULL && kma_sl_step_class(&search))
            continue;
        search.step++;
    }
    if (search.step > KMA_SL_STEP_ENTER)
        kma_fetch_add_u32(&search.heap->seekers, ~0u, KMA_RELAXED);
    return search.block;
}

#endif
