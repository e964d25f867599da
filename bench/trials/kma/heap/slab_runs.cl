// Blocks that have a slab of their own, for one who found no room otherwise, or whose block is larger than those that
// lanes share: lines side by side, one slot.
#ifndef KMA_HEAP_SLAB_RUNS_CL
#define KMA_HEAP_SLAB_RUNS_CL

#include "kma/heap/slab_heads.cl"

// Makes a slab of lines of the caller's own: one block of all of them.
static inline kma_ref kma_sl_make_run(const kma_sl_heap *sl, uint first, uint lines)
{
    kma_store_u32(kma_sl_word(sl, first + 1), kma_sl_run_header(lines), KMA_RELAXED);
    kma_store_u32(kma_sl_word(sl, first), 1u, KMA_RELAXED);
    kma_sl_put_mark(sl, first, KMA_SL_MARK_HEADER);
    return sl->plan.begin + first * KMA_SL_LINE;
}

// Whether a class serves blocks at multiples of `align` units.
static inline bool kma_sl_is_aligned(uint size_class, uint align)
{
    return kma_sl_units(size_class) % align == 0;
}

// ------ alone -----------------------------------------------------------------------------------------------------

// What is tried one after the other, until there is a block.
#define KMA_SL_STEP_HOLE   0u // of the class
#define KMA_SL_STEP_HEAD   1u // of the caller's place; if that has no slab, of a new one, which it gets
#define KMA_SL_STEP_FEW    2u // lines, as many as a block of the class needs; what is over others can share
#define KMA_SL_STEP_LARGER 3u // and on, for each class from this one on: a hole, then one from a head of any place
// Behind those of the last class:
#define KMA_SL_STEP_RUN    0u // lines of its own
#define KMA_SL_STEP_OFF    1u // all slabs are taken off their heads, so that those that nobody uses end
#define KMA_SL_STEP_AGAIN  2u // the fewest lines
#define KMA_SL_STEP_LAST   3u // a run

// From lines that were found a slab is made, and a block of it.
static inline KMA_COLD void kma_sl_use_lines(kma_sl_search *search, bool is_run)
{
    const kma_sl_heap sl = kma_sl_open(search->heap);
    const uint first = search->line;
    const uint units = kma_sl_units(search->own_class);
    if (is_run) {
        search->block = kma_sl_make_run(&sl, first, search->count);
        return;
    }
    uint slot = 0;
    if (search->step == KMA_SL_STEP_HEAD + 1) {
        slot = kma_sl_first_bit(kma_sl_open_head(search->heap, kma_place(), search->own_class, first, 1));
    } else {
        const uint slots = min(search->count * KMA_SL_LINE / units, KMA_SL_SLOTS);
        kma_sl_make(&sl, first, search->count, units, slots, slots == 1 ? 1u : 3u);
        if (slots != 1) // so that the others are listed
            kma_sl_let_go(search->heap, first, 2u, true);
    }
    search->block = search->heap->plan.begin + first * KMA_SL_LINE + slot * units;
}

// A block of the class of `search` from the head of a place; KMA_NULL if it has no slab.
static inline KMA_COLD kma_ref kma_sl_at_head(global kma_slab *heap, uint size_class, uint place)
{
    const kma_sl_heap sl = kma_sl_open(heap);
    const kma_sl_from from =
        kma_sl_from_head(&sl, kma_sl_head(&sl, place, size_class), heap->sizes[size_class].slots, 1);
    if (from.undo != 0 || from.spare)
        kma_sl_settle(heap, from.first, from.undo);
    if (from.slots == 0)
        return KMA_NULL;
    return heap->plan.begin + from.first * KMA_SL_LINE + kma_sl_first_bit(from.slots) * kma_sl_units(size_class);
}

// A block for the caller alone: of `units`, at a multiple of `align` units; of a class, or (KMA_SL_CLASSES) a run. KMA_NULL
// at out of memory.
static inline KMA_COLD kma_ref kma_sl_take_alone(global kma_slab *heap, uint units, uint align, uint size_class)
{
    kma_sl_search search;
    search.heap = heap;
    search.units = units;
    search.own_class = size_class;
    search.class_align = align;
    search.block = KMA_NULL;
    search.step = size_class < KMA_SL_CLASSES ? KMA_SL_STEP_HOLE : KMA_SL_STEP_LARGER;
    while (search.block == KMA_NULL) { // a step further each time
        const uint step = search.step++;
        const uint last = KMA_SL_STEP_LARGER + 2 * (KMA_SL_CLASSES - search.own_class); // behind those of classes
        if (step > last + KMA_SL_STEP_LAST)
            break;
        const bool is_larger = step >= KMA_SL_STEP_LARGER && step < last;
        const bool is_run = step == last + KMA_SL_STEP_RUN || step == last + KMA_SL_STEP_LAST;
        search.size_class = is_larger ? search.own_class + (step - KMA_SL_STEP_LARGER) / 2 : search.own_class;
        search.count = 0; // of lines that are wanted
        if (is_larger && !kma_sl_is_aligned(search.size_class, search.class_align))
            continue;
        if (is_run)
            search.count = max(kma_sl_whole_lines(search.units), 2u);
        else if (step == last + KMA_SL_STEP_OFF)
            kma_sl_take_off_all(&search);
        else if (step == KMA_SL_STEP_HEAD)
            search.block = kma_sl_at_head(search.heap, search.size_class, kma_place());
        else if (is_larger && (step - KMA_SL_STEP_LARGER) % 2 != 0)
            search.block = kma_sl_take_off(search.heap, search.size_class);
        else if (step < last && step != KMA_SL_STEP_FEW)
            kma_sl_fill(&search);
        else if (search.own_class < KMA_SL_CLASSES)
            search.count = kma_sl_units(search.own_class) == 1 ? 1 : max(kma_sl_whole_lines(kma_sl_units(search.own_class)), 2u);
        if (step == KMA_SL_STEP_HEAD && search.block == KMA_NULL)
            search.count = search.heap->sizes[search.own_class].lines;
        if (search.count == 0)
            continue;
        search.align = is_run ? max(search.class_align >> KMA_SL_LINE_SHIFT, 1u) : 1;
        kma_sl_search_lines(&search);
        if (search.line != KMA_SL_NONE)
            kma_sl_use_lines(&search, is_run);
    }
    return search.block;
}

#endif
