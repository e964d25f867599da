// Kernels of a compaction (collect/compact.cl). No other kernel uses the heap meanwhile; one
// dimension. Unless said otherwise, a work-group takes a region at a time.
#ifndef KMA_COLLECT_COMPACT_KERNELS_CL
#define KMA_COLLECT_COMPACT_KERNELS_CL

#include "kma/collect/compact.cl"

// A kernel's state; KMA_COMPACTING_SLABS also in kernels that read line words.
#define KMA_COMPACTING                                                                             \
    const kma_marking m = KMA_MARKING_OF(0, 0, 0);                                                 \
    const uint me = (uint)get_local_id(0), items = (uint)get_local_size(0)
#define KMA_COMPACTING_SLABS global kma_slab *const slab = (global kma_slab *)heap

// Returns the lines of a region, from *first on; the last one may have fewer.
static inline uint kma_compact_lines(const kma_marking *m, uint region, uint *first)
{
    const uint shift = m->region_shift - KMA_SLAB_LINE_SHIFT;
    const uint lines = ((global kma_slab *)m->heap)->plan.frames << KMA_SLAB_FRAME_SHIFT;
    *first = region << shift;
    return min(lines - *first, 1u << shift);
}

// Returns the mark words of a region, from *first on.
static inline uint kma_compact_mark_words(const kma_marking *m, uint region, uint *first)
{
    uint line;
    const uint lines = kma_compact_lines(m, region, &line);
    *first = (m->begin + (line << KMA_SLAB_LINE_SHIFT)) / 32;
    return (lines << KMA_SLAB_LINE_SHIFT) / 32;
}

// Of a slab that begins in a region and ends in another: returns how many objects it has elsewhere.
// Their marks are counted in the other region: adds them to `fixed` there.
static inline uint kma_compact_beyond(const kma_marking *m, const kma_compact_line *line,
                                      uint region, global kma_region *regions)
{
    uint beyond = 0;
    for (uint left = line->taken; left != 0; left &= left - 1) {
        const uint slot = kma_lowest_bit(left);
        const kma_ref object = kma_compact_object(m, m->begin + kma_compact_slot_at(line, slot),
                                                  kma_compact_slot_units(line, slot));
        if (object == KMA_NULL || kma_mark_region(m, object) == region)
            continue;
        kma_fetch_add_u32(&regions[kma_mark_region(m, object)].fixed, 1, KMA_RELAXED);
        beyond++;
    }
    return beyond;
}

// Step 1: counts what is in each region. Blocks of more than `largest` units cannot move.
kernel void kma_compact_census_kernel(KMA_MARKING_PARAMETERS, global kma_region *regions,
                                      uint region_count, uint largest)
{
    KMA_COMPACTING;
    KMA_COMPACTING_SLABS;
    local uint sums[4]; // units, holes, open; fixed
    const uint shift = m.region_shift - KMA_SLAB_LINE_SHIFT;
    // Each group some of the regions.
    for (uint region = (uint)get_group_id(0); region < region_count;
         region += (uint)get_num_groups(0)) {
        for (uint i = me; i < 4; i += items)
            sums[i] = 0;
        barrier(CLK_LOCAL_MEM_FENCE);
        uint first, objects = 0, units = 0, holes = 0, open = 0, fixed = 0;
        const uint words = kma_compact_mark_words(&m, region, &first);
        for (uint i = me; i < words; i += items)
            objects += (uint)popcount(kma_load_u32(&m.marks[first + i], KMA_RELAXED));
        const uint lines = kma_compact_lines(&m, region, &first);
        for (uint i = me; i < lines; i += items) {
            const uint at = first + i;
            const kma_compact_line line = kma_compact_line_of(slab, at);
            units += kma_compact_units_of(&line, line.taken);
            holes += kma_compact_units_of(&line, line.slots & ~line.taken);
            fixed += (uint)popcount(line.taken) + kma_compact_larger(&line, largest);
            if (at % KMA_SLAB_FRAME_LINES == 0 &&
                kma_load_u32(kma_slab_used(slab, at >> KMA_SLAB_FRAME_SHIFT), KMA_RELAXED) == 0)
                open += KMA_SLAB_FRAME_UNITS;
            const uint word = kma_load_u32(kma_slab_word(slab, at), KMA_RELAXED);
            uint last = region; // the last region that the run or slab lies in
            if ((word & (KMA_SLAB_FORM | KMA_SLAB_RUN)) == KMA_SLAB_RUN) {
                last = (at + (word & KMA_SLAB_RUN_LINES) - 1) >> shift;
                fixed += 2; // itself, which may have a mark, and 1 for its regions
                for (uint r = region + 1; r <= last && r < region_count; r++)
                    kma_fetch_add_u32(&regions[r].fixed, 1, KMA_RELAXED);
            } else if (line.slots != 0 && (word & KMA_SLAB_FORM) == KMA_SLAB_SLAB) {
                last = (at + kma_slab_lines_of(word) - 1) >> shift;
                if (last != region && last < region_count) {
                    fixed -= kma_compact_beyond(&m, &line, region, regions);
                    for (uint r = region + 1; r <= last; r++)
                        kma_store_u32(&regions[r].entered, 1, KMA_RELAXED);
                }
            }
        }
        kma_group_add(&sums[0], units);
        kma_group_add(&sums[1], holes);
        kma_group_add(&sums[2], open);
        kma_group_add(&sums[3], fixed - objects);
        barrier(CLK_LOCAL_MEM_FENCE);
        if (me == 0) {
            kma_store_u32(&regions[region].units, sums[0], KMA_RELAXED);
            kma_store_u32(&regions[region].holes, sums[1], KMA_RELAXED);
            kma_store_u32(&regions[region].open, sums[2], KMA_RELAXED);
            kma_fetch_add_u32(&regions[region].fixed, sums[3], KMA_RELAXED);
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
}

// Writes what each 64 bytes of the blocks' memory hold: KMA_PIECE_… in a byte, 0 before. Two
// objects of 32 bytes share one; the last one written stays.
kernel void kma_compact_map_kernel(KMA_MARKING_PARAMETERS, global uchar *pieces)
{
    KMA_COMPACTING;
    KMA_COMPACTING_SLABS;
    const uint lines = slab->plan.frames << KMA_SLAB_FRAME_SHIFT;
    for (uint i = (uint)get_group_id(0) * items + me; i < lines; i += (uint)get_global_size(0)) {
        const kma_compact_line line = kma_compact_line_of(slab, i);
        for (uint left = line.taken; left != 0; left &= left - 1) {
            const uint slot = kma_lowest_bit(left);
            const uint at = kma_compact_slot_at(&line, slot);
            const uint units = kma_compact_slot_units(&line, slot);
            const uint type = m.table[m.begin + at];
            const bool is_typed =
                type != 0 || (units > 1 && m.table[m.begin + at + 1] >= KMA_TYPE_ARRAY);
            for (uint piece = at / 4; piece <= (at + units - 1) / 4; piece++)
                pieces[piece] = is_typed ? KMA_PIECE_OBJECT : KMA_PIECE_BLOCK;
        }
        const uint word = kma_load_u32(kma_slab_word(slab, i), KMA_RELAXED);
        if ((word & (KMA_SLAB_FORM | KMA_SLAB_RUN)) != KMA_SLAB_RUN)
            continue;
        const uint at = m.begin + (i << KMA_SLAB_LINE_SHIFT);
        const bool is_typed = m.table[at] != 0 || m.table[at + 1] >= KMA_TYPE_ARRAY;
        const uint count = (word & KMA_SLAB_RUN_LINES) << KMA_SLAB_LINE_SHIFT >> 2;
        for (uint piece = 0; piece < count; piece++)
            pieces[(i << KMA_SLAB_LINE_SHIFT >> 2) + piece] =
                is_typed ? KMA_PIECE_OBJECT : KMA_PIECE_BLOCK;
    }
}

// Adds the slots of a line in the mask `slots` to local counts of each size class. Leaves out slots
// of more than `largest` units and, if `is_exact`, those of a mixed slab without a class's exact
// size.
static inline void kma_compact_count(local uint *counts, const kma_compact_line *line, uint slots,
                                     bool is_exact, uint largest)
{
    if (line->units != 0) {
        if (slots != 0 && line->units <= largest)
            kma_group_add(&counts[kma_slab_class_of(line->units)], (uint)popcount(slots));
        return;
    }
    for (; slots != 0; slots &= slots - 1) {
        const uint units = kma_compact_slot_units(line, kma_lowest_bit(slots));
        const uint size_class = kma_slab_class_of(units);
        if (units <= largest && (!is_exact || kma_slab_units(size_class) == units))
            kma_group_add(&counts[size_class], 1);
    }
}

// Step 2: counts the slots that are taken in sources, by class.
kernel void kma_compact_count_kernel(KMA_MARKING_PARAMETERS, global const uint *sources,
                                     uint source_count, global kma_compaction *compaction,
                                     uint largest)
{
    KMA_COMPACTING;
    KMA_COMPACTING_SLABS;
    local uint counts[KMA_COMPACT_CLASSES];
    for (uint i = me; i < KMA_COMPACT_CLASSES; i += items)
        counts[i] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint s = (uint)get_group_id(0); s < source_count; s += (uint)get_num_groups(0)) {
        uint first;
        const uint lines = kma_compact_lines(&m, sources[s], &first);
        for (uint i = me; i < lines; i += items) {
            const kma_compact_line line = kma_compact_line_of(slab, first + i);
            kma_compact_count(counts, &line, line.taken, false, largest);
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint i = me; i < KMA_COMPACT_CLASSES; i += items)
        if (counts[i] != 0)
            kma_fetch_add_u32(&compaction->wanted[i], counts[i], KMA_RELAXED);
}

// Step 3: assigns each class its part of a list of `places` entries, side by side. One work-item.
kernel void kma_compact_place_kernel(global kma_compaction *compaction, uint places)
{
    uint next = 0;
    for (uint i = 0; i < KMA_COMPACT_CLASSES; i++) {
        const uint fit = min(kma_load_u32(&compaction->wanted[i], KMA_RELAXED), places - next);
        compaction->first[i] = next;
        kma_store_u32(&compaction->wanted[i], fit, KMA_RELAXED);
        next += fit;
    }
}

// Reserves counts[i] list entries of each class i by adding to `totals`. Leaves the first one in
// `next`, 0 in `counts`. Called by the whole work-group.
static inline void kma_compact_reserve(local uint *counts, local uint *next,
                                       global kma_atomic_u32 *totals, uint me, uint items)
{
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint i = me; i < KMA_COMPACT_CLASSES; i += items) {
        next[i] = counts[i] != 0 ? kma_fetch_add_u32(&totals[i], counts[i], KMA_RELAXED) : 0;
        counts[i] = 0;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
}

// Step 3: lists free slots of targets.
kernel void kma_compact_list_kernel(KMA_MARKING_PARAMETERS, global const uint *is_source,
                                    global const uint *targets, uint target_count,
                                    global kma_compaction *compaction, global uint *list,
                                    uint largest)
{
    KMA_COMPACTING;
    KMA_COMPACTING_SLABS;
    local uint counts[KMA_COMPACT_CLASSES], next[KMA_COMPACT_CLASSES];
    for (uint i = me; i < KMA_COMPACT_CLASSES; i += items)
        counts[i] = 0;
    for (uint t = (uint)get_group_id(0); t < target_count; t += (uint)get_num_groups(0)) {
        barrier(CLK_LOCAL_MEM_FENCE);
        uint first;
        const uint lines = kma_compact_lines(&m, targets[t], &first);
        for (uint i = me; i < lines; i += items) {
            const kma_compact_line line = kma_compact_line_of(slab, first + i);
            kma_compact_count(counts, &line, line.slots & ~line.taken, true, largest);
        }
        kma_compact_reserve(counts, next, &compaction->listed[0], me, items);
        for (uint i = me; i < lines; i += items) {
            const kma_compact_line line = kma_compact_line_of(slab, first + i);
            for (uint left = line.slots & ~line.taken; left != 0; left &= left - 1) {
                const uint slot = kma_lowest_bit(left);
                const uint units = kma_compact_slot_units(&line, slot);
                const uint size_class = kma_slab_class_of(units);
                if (units > largest || kma_slab_units(size_class) != units)
                    continue;
                const uint place = kma_group_add(&next[size_class], 1);
                // A slab of a target may end in a source.
                const uint unit = slab->plan.begin + kma_compact_slot_at(&line, slot);
                if (place < kma_load_u32(&compaction->wanted[size_class], KMA_RELAXED))
                    list[compaction->first[size_class] + place] =
                        is_source[kma_mark_region(&m, unit)] != 0
                            ? KMA_SLAB_NONE
                            : (first + i) << KMA_SLAB_TEAM_SHIFT | slot;
            }
        }
    }
}

// Step 3: lists the slots of new pages, of classes with too few free slots. A work-item makes a
// page at a time.
kernel void kma_compact_pages_kernel(KMA_MARKING_PARAMETERS, global const uint *is_source,
                                     global kma_compaction *compaction, global uint *list)
{
    const kma_marking m = KMA_MARKING_OF(0, 0, 0);
    for (uint size_class = 0; size_class < KMA_SLAB_PAGE_CLASSES; size_class++) {
        const uint wanted = kma_load_u32(&compaction->wanted[size_class], KMA_RELAXED);
        const uint slots = KMA_SLAB_FRAME_UNITS / kma_slab_units(size_class);
        const uint shift = kma_slab_page_shift(kma_slab_units(size_class));
        // Until there are enough: a page more each round.
        while (kma_load_u32(&compaction->listed[size_class], KMA_RELAXED) < wanted) {
            const uint first =
                kma_fetch_add_u32(&compaction->listed[size_class], slots, KMA_RELAXED);
            if (first >= wanted)
                break;
            const uint frame = kma_compact_new_page(&m, is_source, compaction, size_class);
            for (uint i = 0; i < slots && first + i < wanted; i++) {
                const uint line =
                    (frame << KMA_SLAB_FRAME_SHIFT) + (i & ((1u << shift) - 1)); // slot i's word
                list[compaction->first[size_class] + first + i] =
                    frame != KMA_SLAB_NONE ? line << KMA_SLAB_TEAM_SHIFT | i >> shift
                                           : KMA_SLAB_NONE;
            }
        }
    }
}

// Step 4: moves the objects of sources.
kernel void kma_compact_move_kernel(KMA_MARKING_PARAMETERS, global const uint *sources,
                                    uint source_count, global kma_compaction *compaction,
                                    global const uint *list, global uint *moved_from, uint largest)
{
    KMA_COMPACTING;
    KMA_COMPACTING_SLABS;
    local uint counts[KMA_COMPACT_CLASSES], next[KMA_COMPACT_CLASSES];
    uint moved = 0, moved_units = 0;
    for (uint i = me; i < KMA_COMPACT_CLASSES; i += items)
        counts[i] = 0;
    for (uint s = (uint)get_group_id(0); s < source_count; s += (uint)get_num_groups(0)) {
        barrier(CLK_LOCAL_MEM_FENCE);
        uint first;
        const uint lines = kma_compact_lines(&m, sources[s], &first);
        for (uint i = me; i < lines; i += items) {
            const kma_compact_line line = kma_compact_line_of(slab, first + i);
            kma_compact_count(counts, &line, line.taken, false, largest);
        }
        kma_compact_reserve(counts, next, &compaction->taken[0], me, items);
        for (uint i = me; i < lines; i += items) {
            const kma_compact_line line = kma_compact_line_of(slab, first + i);
            for (uint left = line.taken; left != 0; left &= left - 1) {
                const uint slot = kma_lowest_bit(left);
                const uint units = kma_compact_slot_units(&line, slot);
                const kma_ref from = slab->plan.begin + kma_compact_slot_at(&line, slot);
                const kma_ref object = kma_compact_object(&m, from, units);
                if (units > largest || object == KMA_NULL)
                    continue;
                const uint size_class = kma_slab_class_of(units);
                const uint place = kma_group_add(&next[size_class], 1);
                if (place >= min(kma_load_u32(&compaction->wanted[size_class], KMA_RELAXED),
                                 kma_load_u32(&compaction->listed[size_class], KMA_RELAXED)))
                    continue;
                const uint entry = list[compaction->first[size_class] + place];
                if (entry == KMA_SLAB_NONE)
                    continue;
                kma_compact_move(&m, from, object, units, entry, moved_from);
                moved++;
                moved_units += units;
            }
        }
    }
    if (moved != 0) {
        kma_fetch_add_u32(&compaction->moved_objects, moved, KMA_RELAXED);
        kma_fetch_add_u32(&compaction->moved_units, moved_units, KMA_RELAXED);
    }
}

// Step 5: lists the regions with references into `zones_of_sources`. The next kernel's loop has
// barriers and must not skip a region (docs/porting.md). A work-item looks at one region at a time.
kernel void kma_compact_choose_kernel(global kma_atomic_u32 *zones, uint region_count,
                                      uint zones_of_sources, global kma_compaction *compaction,
                                      global uint *chosen)
{
    for (size_t region = get_global_id(0); region < region_count; region += get_global_size(0))
        if ((kma_load_u32(&zones[region], KMA_RELAXED) & zones_of_sources) != 0)
            chosen[kma_fetch_add_u32(&compaction->rewritten, 1, KMA_RELAXED)] = (uint)region;
}

#define KMA_COMPACT_ITEMS 256u // of a group at most

// Step 5: rewrites references in the objects of these regions; queues the parts of large arrays. A
// group gathers the objects of one mark word for each work-item, then rewrites them: neighbouring
// work-items take objects side by side in memory.
kernel void kma_compact_rewrite_kernel(KMA_MARKING_PARAMETERS, global const uint *moved_from,
                                       global kma_compaction *compaction, global const uint *chosen)
{
    KMA_COMPACTING;
    local ushort gathered[KMA_COMPACT_ITEMS * 32]; // units, from the first word's on
    local uint count;
    const uint regions = kma_load_u32(&compaction->rewritten, KMA_RELAXED);
    for (uint r = (uint)get_group_id(0); r < regions; r += (uint)get_num_groups(0)) {
        uint first;
        const uint words = kma_compact_mark_words(&m, chosen[r], &first);
        for (uint done = 0; done < words; done += items) {
            if (me == 0)
                count = 0;
            barrier(CLK_LOCAL_MEM_FENCE);
            uint left =
                done + me < words ? kma_load_u32(&m.marks[first + done + me], KMA_RELAXED) : 0;
            uint place = kma_group_add(&count, (uint)popcount(left));
            for (; left != 0; left &= left - 1) // 32 times at most
                gathered[place++] = (ushort)(me * 32 + kma_lowest_bit(left));
            barrier(CLK_LOCAL_MEM_FENCE);
            for (uint i = me; i < count; i += items)
                kma_compact_rewrite_object(&m, moved_from, (first + done) * 32 + gathered[i]);
            barrier(CLK_LOCAL_MEM_FENCE);
        }
    }
}

// Step 5: rewrites the queued parts of arrays, a work-group each.
kernel void kma_compact_rewrite_parts_kernel(KMA_MARKING_PARAMETERS, global const uint *moved_from)
{
    KMA_COMPACTING;
    const uint count = min(kma_load_u32(m.count, KMA_RELAXED), capacity);
    for (uint i = (uint)get_group_id(0); i < count; i += (uint)get_num_groups(0)) {
        const kma_mark_item item = queue[i];
        if (item.ref == KMA_NULL)
            continue;
        const kma_type type = types[(m.table[item.ref] & ~KMA_TYPE_ARRAY) - 1];
        const uint length = kma_array_length(kma_deref_in(heap, item.ref));
        const uint begin = item.part << KMA_COMPACT_PART_SHIFT;
        const uint end = min(length - begin, 1u << KMA_COMPACT_PART_SHIFT) + begin;
        kma_compact_rewrite(&m, moved_from, item.ref, &type, begin + me, end, items);
    }
}

// Step 5: rewrites `count` roots, from number `first` of a buffer on. A work-item takes one at a
// time.
kernel void kma_compact_rewrite_roots_kernel(KMA_MARKING_PARAMETERS, global const uint *moved_from,
                                             global uint *roots, ulong first, ulong count)
{
    const kma_marking m = KMA_MARKING_OF(0, 0, 0);
    for (size_t i = get_global_id(0); i < count; i += get_global_size(0)) {
        const kma_ref root = roots[first + i];
        if (kma_compact_may_have_moved(&m, moved_from, root) != 0)
            roots[first + i] = kma_compact_follow(&m, root);
    }
}

// Step 6: sweeps the regions from which objects have moved.
kernel void kma_compact_free_kernel(KMA_MARKING_PARAMETERS, global const uint *moved_from,
                                    uint region_count)
{
    KMA_COMPACTING;
    uint sums[4] = {0, 0, 0, 0};
    // Each group some of the regions.
    for (uint region = (uint)get_group_id(0); region < region_count;
         region += (uint)get_num_groups(0)) {
        uint first;
        const uint words = moved_from[region] != 0 ? kma_compact_mark_words(&m, region, &first) : 0;
        for (uint i = me; i < words; i += items)
            kma_sweep_word(&m, first + i, sums);
    }
}

// Step 6: ends the sources' pages without blocks. A work-item takes a frame at a time.
kernel void kma_compact_end_pages_kernel(KMA_MARKING_PARAMETERS, global const uint *sources,
                                         uint source_count)
{
    KMA_COMPACTING;
    KMA_COMPACTING_SLABS;
    for (uint s = (uint)get_group_id(0); s < source_count; s += (uint)get_num_groups(0)) {
        uint first;
        const uint lines = kma_compact_lines(&m, sources[s], &first);
        for (uint i = me * KMA_SLAB_FRAME_LINES; i < lines; i += items * KMA_SLAB_FRAME_LINES) {
            const uint word = kma_load_u32(kma_slab_word(slab, first + i), KMA_RELAXED);
            if ((word & KMA_SLAB_FORM) == KMA_SLAB_PAGE)
                kma_slab_end_page(slab, (first + i) >> KMA_SLAB_FRAME_SHIFT,
                                  kma_slab_page_class(word));
        }
    }
}

#endif
