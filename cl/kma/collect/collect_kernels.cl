// Kernels of a collector (kma::Collector). No other kernel uses the heap meanwhile; one dimension.
#ifndef KMA_COLLECT_COLLECT_KERNELS_CL
#define KMA_COLLECT_COLLECT_KERNELS_CL

#include "kma/collect/lists.cl"
#include "kma/collect/sweep.cl"

// Takes a block for the collector's tables of `units` units. *ref becomes its ref, 0 without
// memory. One work-item.
kernel void kma_collector_new_kernel(global kma_heap *heap, uint types, uint units, ulong bytes,
                                     global uint *ref)
{
    global kma_collector *const collector = (global kma_collector *)kma_malloc(heap, (size_t)bytes);
    *ref = kma_ref_of(heap, collector);
    if (!collector)
        return;
    collector->types = types;
    collector->units = units;
    collector->table = *ref + (uint)kma_whole_units(sizeof(kma_collector));
    collector->marks = collector->table + units / KMA_UNIT;
}

// Makes the collector at `ref` the heap's, after its tables were cleared. One work-item.
kernel void kma_collector_begin_kernel(global kma_heap *heap, uint ref)
{
    ((global kma_heap_header *)heap)->collector = ref;
}

// *has becomes 1 if the heap can serve a block of `bytes`, else 0. One work-item.
kernel void kma_collector_try_kernel(global kma_heap *heap, ulong bytes, global uint *has)
{
    global void *const block = kma_malloc(heap, (size_t)bytes);
    *has = block != 0;
    kma_free(heap, block);
}

// Clears `units` units from `ref` on.
kernel void kma_collector_clear_kernel(global kma_heap *heap, uint ref, uint units)
{
    global uint4 *const first = (global uint4 *)kma_deref_in(heap, ref);
    for (size_t i = get_global_id(0); i < units; i += get_global_size(0))
        first[i] = (uint4)(0u);
}

// Marks the objects that `count` roots lead to, from number `first` of a buffer on, and queues for
// round
// 0. `which` is the buffer's number, for reports.
kernel void kma_mark_roots_kernel(KMA_MARKING_PARAMETERS, global const uint *roots, ulong first,
                                  ulong count, uint which)
{
    KMA_MARKING(0);
    const size_t items = get_global_size(0);
    for (size_t tile = get_group_id(0) * get_local_size(0); tile < count; tile += items) {
        const size_t i = first + tile + get_local_id(0);
        const uint reached = i < first + count
                                 ? kma_mark_reach(&m, KMA_NULL, (uint)i, roots[i], 0, 1 + which)
                                 : KMA_NULL;
        if (reached != KMA_NULL)
            kma_mark_push(&m, reached);
        kma_mark_flush(&m, &gathered_first);
    }
}

// A round: visits the items of queue `from`, and queues objects for the next one.
kernel void kma_mark_round_kernel(KMA_MARKING_PARAMETERS, global const kma_mark_item *from,
                                  uint round)
{
    const uint count = min(kma_load_u32(&collection->counts[round], KMA_RELAXED), capacity);
    if (get_group_id(0) * get_local_size(0) >= count)
        return;
    KMA_MARKING(round + 1);
    m.is_few = count < KMA_MARK_FEW;
    const size_t items = get_global_size(0);
    for (size_t tile = get_group_id(0) * get_local_size(0); tile < count; tile += items) {
        const size_t i = tile + get_local_id(0);
        if (i < count)
            kma_mark_visit(&m, from[i]);
        kma_mark_flush(&m, &gathered_first);
    }
}

// Visits all marked objects, since some were dropped, and queues for round 0.
kernel void kma_mark_again_kernel(KMA_MARKING_PARAMETERS)
{
    KMA_MARKING(0);
    const uint words = (m.limit + 31) / 32;
    const size_t items = get_global_size(0);
    for (size_t tile = get_group_id(0) * get_local_size(0); tile < words; tile += items) {
        const size_t i = tile + get_local_id(0);
        uint left = i < words ? kma_load_u32(&m.marks[i], KMA_RELAXED) : 0;
        for (; left != 0; left &= left - 1) { // 32 times at most
            const kma_mark_item item = {(uint)i * 32 + kma_lowest_bit(left), KMA_MARK_UNSPLIT};
            const uint number = kma_mark_type(&m, item.ref) & ~KMA_TYPE_ARRAY;
            if (number != 0 && types[number - 1].references != 0)
                kma_mark_visit(&m, item);
        }
        kma_mark_flush(&m, &gathered_first);
    }
}

// Step 1 of a pass over lists (lists.cl): chooses the splitters of all tiles, none reached yet.
kernel void kma_list_choose_kernel(KMA_MARKING_PARAMETERS, global uint *splitters,
                                   global uint *reached, uint tiles, uint field)
{
    const kma_marking m = KMA_MARKING_OF(0, 0, 0); // which queues nothing
    for (size_t tile = get_global_id(0); tile < tiles; tile += get_global_size(0)) {
        splitters[tile] = kma_list_choose(&m, (uint)tile, field);
        reached[tile] = 0;
    }
}

// Step 2: next[t] becomes the tile that tile t's splitter leads to. The splitters that the first
// `items` items of the queue lead to become reached.
kernel void kma_list_walk_kernel(KMA_MARKING_PARAMETERS, global const uint *splitters,
                                 global uint *reached, uint tiles, uint field, global uint *next,
                                 uint items)
{
    const kma_marking m = KMA_MARKING_OF(0, 0, 0); // which queues nothing
    const size_t walks = (size_t)items + tiles;
    for (size_t i = get_global_id(0); i < walks; i += get_global_size(0)) {
        if (i >= items) {
            const uint tile = (uint)(i - items), ref = splitters[tile];
            next[tile] = ref != KMA_NULL ? kma_list_walk(&m, splitters, ref, field) : KMA_LIST_NONE;
            continue;
        }
        const uint type = m.table[queue[i].ref]; // an item is a typed object
        if (type >= KMA_TYPE_ARRAY || types[type - 1].references <= field)
            continue;
        const uint tile = kma_list_walk(&m, splitters, queue[i].ref, field);
        if (tile != KMA_LIST_NONE)
            kma_store_u32((global kma_atomic_u32 *)&reached[tile], 1, KMA_RELAXED);
    }
}

// Step 3, launched log2(tiles) + 1 times: `beyond` is `next` of the next launch.
kernel void kma_list_double_kernel(global kma_atomic_u32 *reached, uint tiles,
                                   global const uint *next, global uint *beyond)
{
    for (size_t tile = get_global_id(0); tile < tiles; tile += get_global_size(0)) {
        const uint to = next[tile];
        beyond[tile] = to != KMA_LIST_NONE ? next[to] : KMA_LIST_NONE;
        if (to != KMA_LIST_NONE && kma_load_u32(&reached[tile], KMA_RELAXED) != 0)
            kma_store_u32(&reached[to], 1, KMA_RELAXED);
    }
}

// Step 4: marks the reached splitters and appends them to the queue of round 0.
kernel void kma_list_queue_kernel(KMA_MARKING_PARAMETERS, global const uint *splitters,
                                  global const uint *reached, uint tiles)
{
    KMA_MARKING(0);
    const size_t items = get_global_size(0);
    for (size_t first = get_group_id(0) * get_local_size(0); first < tiles; first += items) {
        const size_t tile = first + get_local_id(0);
        if (tile < tiles && reached[tile] != 0 &&
            kma_mark_reach(&m, splitters[tile], 0, splitters[tile], 0, 1) != KMA_NULL)
            kma_mark_push(&m, splitters[tile]);
        kma_mark_flush(&m, &gathered_first);
    }
}

// Frees all unmarked typed objects; records impossible types and leaves those objects. Each
// work-item takes 32 units at a time.
kernel void kma_sweep_kernel(KMA_MARKING_PARAMETERS)
{
    const kma_marking m = KMA_MARKING_OF(0, 0, 0); // which queues nothing
    local uint sums[4]; // marked objects, their units; freed objects, their units
    if (get_local_id(0) == 0)
        for (uint i = 0; i < 4; i++)
            sums[i] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    uint mine[4] = {0, 0, 0, 0};
    for (size_t word = get_global_id(0); word < (m.limit + 31) / 32; word += get_global_size(0))
        kma_sweep_word(&m, (uint)word, mine);
    for (uint i = 0; i < 4; i++)
        if (mine[i] != 0)
            kma_group_add(&sums[i], mine[i]);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (get_local_id(0) == 0) {
        kma_fetch_add_u32(&collection->marked, sums[0], KMA_RELAXED);
        kma_fetch_add_u32(&collection->marked_units, sums[1], KMA_RELAXED);
        kma_fetch_add_u32(&collection->freed, sums[2], KMA_RELAXED);
        kma_fetch_add_u32(&collection->freed_units, sums[3], KMA_RELAXED);
    }
}

#endif
