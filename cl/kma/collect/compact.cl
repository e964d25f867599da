// Compaction: moves the objects of sparse regions, the sources, into free slots of others, the
// targets, which leaves free memory side by side. It follows a collection: the mark bits are those
// of the living objects. No other kernel uses the heap meanwhile. The steps
// (collect/compact_kernels.cl):
//
// 1. census   Counts what is in each region. The host selects sources and targets
//    (host/src/collect/compaction_plan.cpp).
// 2. count    Counts the objects of sources by the size class of their slots.
// 3. list     Lists free slots of targets, as many of each class as are wanted. If they are too
//    few, free frames outside of sources become pages, from the heap's bottom on.
// 4. move     An object takes a slot of the list. Its copy gets its type and its mark. The original
//    loses its mark; its first word becomes the copy's ref. An object without a slot stays.
// 5. rewrite  Looks at all references of roots, and of the regions that have any into the sources'
//    zones. A reference to an unmarked object, in a region from which objects have moved, becomes
//    the ref there. A work-group takes a part of a large array of references at a time.
// 6. free     Sweeps the regions from which objects have moved, and ends the sources' pages without
//    blocks.
//
// A slab belongs to the region of its first line, also where it ends in the next one. Objects
// therefore also move from regions that are no sources; only `moved_from` names these.
//
// The free of the last block of lines makes them free lines, listed in the trees: nothing is left
// to merge.
//
// Only the move claims slots of targets: no slot is claimed in vain. A list entry is a line and a
// bit of its word.
#ifndef KMA_COLLECT_COMPACT_CL
#define KMA_COLLECT_COMPACT_CL

#include "kma/collect/sweep.cl"

#define KMA_COMPACT_PART_SHIFT 12u // log2 of the elements of an array's part

// The slots of a line word.
typedef struct kma_compact_line {
    uint slots; // a bit each
    uint taken; // of these
    uint first; // unit of slot 0, counted from frame 0's start
    uint units; // of each slot; 0: a mixed slab
    uint step;  // units from one slot to the next
    kma_slab_planes planes;
} kma_compact_line;

static inline kma_compact_line kma_compact_line_of(global kma_slab *heap, uint line)
{
    const uint word = kma_load_u32(kma_slab_word(heap, line), KMA_RELAXED);
    kma_compact_line is;
    is.slots = 0;
    is.first = line << KMA_SLAB_LINE_SHIFT;
    is.units = 0;
    is.step = 0;
    if ((word & KMA_SLAB_FORM) == KMA_SLAB_PAGE) {
        const uint index = line % KMA_SLAB_FRAME_LINES;
        is.units = kma_slab_units(kma_slab_page_class(word));
        const uint shift = kma_slab_page_shift(is.units);
        is.slots = index < 1u << shift ? kma_slab_page_slots(word) : 0;
        is.first = ((line - index) << KMA_SLAB_LINE_SHIFT) + index * is.units;
        is.step = is.units << shift;
    } else if (kma_slab_is_equal(word)) {
        is.slots = kma_slab_slots(word);
        is.units = is.step = kma_slab_units(kma_slab_equal_class(word));
    } else if (kma_slab_is_mixed(word)) {
        is.slots = kma_slab_slots(word);
        is.planes = kma_slab_load_planes(heap, line, word);
    }
    is.taken = word & is.slots;
    return is;
}

static inline uint kma_compact_slot_units(const kma_compact_line *line, uint slot)
{
    return line->units != 0 ? line->units : kma_slab_mixed_units(&line->planes, slot);
}

// The slot's first unit, counted from frame 0's start.
static inline uint kma_compact_slot_at(const kma_compact_line *line, uint slot)
{
    return line->first +
           (line->units != 0 ? slot * line->step : kma_slab_mixed_offset(&line->planes, slot));
}

// Returns how many of the taken slots have more than `largest` units.
static inline uint kma_compact_larger(const kma_compact_line *line, uint largest)
{
    if (line->units != 0)
        return line->units > largest ? (uint)popcount(line->taken) : 0;
    uint larger = 0;
    for (uint left = line->taken; left != 0; left &= left - 1)
        larger += kma_slab_mixed_units(&line->planes, kma_lowest_bit(left)) > largest ? 1 : 0;
    return larger;
}

// Returns the units of some of the slots together.
static inline uint kma_compact_units_of(const kma_compact_line *line, uint slots)
{
    if (line->units != 0)
        return (uint)popcount(slots) * line->units;
    uint units = 0;
    for (uint left = slots; left != 0; left &= left - 1)
        units += kma_slab_mixed_units(&line->planes, kma_lowest_bit(left));
    return units;
}

// Returns the first unit of the living object in the block of `units` units at `ref`; KMA_NULL if
// there is none. An array's elements start one unit after the block's start.
static inline kma_ref kma_compact_object(const kma_marking *m, kma_ref ref, uint units)
{
    const uint type = m->table[ref];
    if (type == 0 || type >= KMA_TYPE_ARRAY) {
        if (units == 1 || m->table[ref + 1] < KMA_TYPE_ARRAY)
            return KMA_NULL;
        ref++;
    }
    return (kma_load_u32(&m->marks[ref / 32], KMA_RELAXED) >> ref % 32 & 1) != 0 ? ref : KMA_NULL;
}

// Makes a page of a free frame outside of sources, and returns it; KMA_SLAB_NONE if there is none.
// Lists the page in the empty tree: it has no blocks yet.
static inline uint kma_compact_new_page(const kma_marking *m, global const uint *is_source,
                                        global kma_compaction *compaction, uint size_class)
{
    global kma_slab *const heap = (global kma_slab *)m->heap;
    const uint slotted = 1u << kma_slab_page_shift(kma_slab_units(size_class)); // words with slots
    for (;;) { // another frame each round
        const uint frame = kma_fetch_add_u32(&compaction->next_frame, 1, KMA_RELAXED);
        if (frame >= heap->plan.frames)
            return KMA_SLAB_NONE;
        const uint unit = heap->plan.begin + frame * KMA_SLAB_FRAME_UNITS;
        const uint line = frame << KMA_SLAB_FRAME_SHIFT;
        if (is_source[kma_mark_region(m, unit)] != 0 ||
            kma_slab_claim_lines(heap, frame, KMA_SLAB_FRAME_LINES, 1) == KMA_SLAB_NONE)
            continue;
        kma_slab_relist(heap, KMA_SLAB_FRAME_LINES, frame);
        for (uint i = 0; i < KMA_SLAB_FRAME_LINES; i++)
            kma_store_u32(kma_slab_word(heap, line + i),
                          kma_slab_page_word(size_class, i) | (i < slotted ? KMA_SLAB_LISTED : 0),
                          KMA_RELAXED);
        kma_slab_put(heap, size_class, frame);
        kma_slab_put(heap, KMA_SLAB_EMPTY_TREE, frame);
        return frame;
    }
}

// Moves the block of `units` units at `from`, with its object at `object`, into a listed slot.
static inline void kma_compact_move(const kma_marking *m, kma_ref from, kma_ref object, uint units,
                                    uint entry, global uint *moved_from)
{
    global kma_slab *const heap = (global kma_slab *)m->heap;
    const uint at = entry >> KMA_SLAB_TEAM_SHIFT, slot = entry & (KMA_SLAB_TEAM - 1);
    const kma_compact_line line = kma_compact_line_of(heap, at);
    const kma_ref to = heap->plan.begin + kma_compact_slot_at(&line, slot);
    const kma_ref copied = to + (object - from);
    kma_fetch_or_u32(kma_slab_word(heap, at), 1u << slot, KMA_RELAXED);
    kma_copy_block(kma_deref_in(heap, to), kma_deref_in(heap, from), (ulong)units * KMA_UNIT);
    *kma_type_at(m->heap, kma_collector_of(m->heap), copied) = m->table[object];
    kma_fetch_or_u32(&m->marks[copied / 32], 1u << copied % 32, KMA_RELAXED);
    kma_fetch_and_u32(&m->marks[object / 32], ~(1u << object % 32), KMA_RELAXED);
    *(global kma_ref *)kma_deref_in(heap, object) = copied;
    moved_from[kma_mark_region(m, object)] = 1;
    kma_mark_note_zones(m, copied,
                        kma_load_u32(&m->zones[kma_mark_region(m, object)], KMA_RELAXED));
}

// 1 if a reference leads into a region from which objects have moved, else 0.
static inline uint kma_compact_may_have_moved(const kma_marking *m, global const uint *moved_from,
                                              kma_ref reference)
{
    return reference != KMA_NULL ? moved_from[kma_mark_region(m, reference)] : 0;
}

// Returns where that object is now.
static inline kma_ref kma_compact_follow(const kma_marking *m, kma_ref reference)
{
    const uint marks = kma_load_u32(&m->marks[reference / 32], KMA_RELAXED);
    return (marks >> reference % 32 & 1) != 0
               ? reference
               : *(global const kma_ref *)kma_deref_in(m->heap, reference);
}

#define KMA_COMPACT_AT_ONCE 4u // references in flight

// Rewrites the references in elements begin, begin + step, … below `end` of an object.
static inline void kma_compact_rewrite(const kma_marking *m, global const uint *moved_from,
                                       kma_ref ref, const kma_type *type, uint begin, uint end,
                                       uint step)
{
    global uchar *const object = (global uchar *)kma_deref_in(m->heap, ref);
    for (ulong i = begin; i < end; i += step) {
        global uchar *const element = object + (size_t)i * type->bytes;
        for (uint r = 0; r < type->references; r += KMA_COMPACT_AT_ONCE) {
            uint offsets[KMA_COMPACT_AT_ONCE], values[KMA_COMPACT_AT_ONCE];
            KMA_UNROLL(4)
            for (uint k = 0; k < KMA_COMPACT_AT_ONCE; k++) {
                const uint number = type->first + min(r + k, type->references - 1);
                offsets[k] = m->references[number].offset;
                values[k] = *(global const kma_ref *)(element + offsets[k]);
            }
            uint left = 0; // references that may be stale, a bit each
            KMA_UNROLL(4)
            for (uint k = 0; k < KMA_COMPACT_AT_ONCE; k++)
                left |= kma_compact_may_have_moved(m, moved_from, values[k]) << k;
            KMA_UNROLL(4)
            for (uint k = 0; k < KMA_COMPACT_AT_ONCE; k++)
                if ((left >> k & 1) != 0)
                    *(global kma_ref *)(element + offsets[k]) = kma_compact_follow(m, values[k]);
        }
    }
}

// Rewrites the references of an object. Of a large array, queues the parts for work-groups instead,
// if the queue has space.
static inline void kma_compact_rewrite_object(const kma_marking *m, global const uint *moved_from,
                                              kma_ref ref)
{
    const uint number = m->table[ref];
    const kma_type type = m->types[(number & ~KMA_TYPE_ARRAY) - 1];
    if (type.references == 0)
        return;
    const uint length = number < KMA_TYPE_ARRAY ? 1 : kma_array_length(kma_deref_in(m->heap, ref));
    const uint parts = length == 0 ? 0 : ((length - 1) >> KMA_COMPACT_PART_SHIFT) + 1;
    if (length > 1u << KMA_MARK_LEAF_SHIFT) {
        const uint first = kma_fetch_add_u32(m->count, parts, KMA_RELAXED);
        const bool has_room = first < m->capacity && parts <= m->capacity - first;
        for (uint i = 0; i < parts && first + i < m->capacity; i++) {
            const kma_mark_item item = {has_room ? ref : KMA_NULL, i};
            m->queue[first + i] = item;
        }
        if (has_room)
            return;
    }
    kma_compact_rewrite(m, moved_from, ref, &type, 0, length, 1);
}

#endif
