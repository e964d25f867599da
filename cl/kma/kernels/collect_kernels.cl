// The kernels of a collector (kma::Collector). While nothing else runs on the heap; one dimension.
#ifndef KMA_KERNELS_COLLECT_KERNELS_CL
#define KMA_KERNELS_COLLECT_KERNELS_CL

#include "kma/collect/mark.cl"
#include "kma/collect/typed.cl"
#include "kma/platform/group.cl"

// Takes a block for the collector's tables of `units` units, and makes it the heap's. *ref becomes
// its ref, 0 if the heap has no memory for it. One work-item.
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
    ((global kma_heap_header *)heap)->collector = *ref;
}

// Clears `units` units from `ref` on.
kernel void kma_collector_clear_kernel(global kma_heap *heap, uint ref, uint units)
{
    global uint4 *const first = (global uint4 *)kma_deref_in(heap, ref);
    for (size_t i = get_global_id(0); i < units; i += get_global_size(0))
        first[i] = (uint4)(0u);
}

static inline kma_marking kma_marking_of(global kma_heap *heap, global const kma_type *types,
                                         uint type_count, global const kma_reference *references,
                                         global kma_collection *collection,
                                         global kma_mark_item *queue, uint capacity, uint round,
                                         local kma_mark_item *gathered, local uint *gathered_count)
{
    global kma_collector *const collector = kma_collector_of(heap);
    kma_marking m;
    m.heap = heap;
    m.table = kma_type_at(heap, collector, 0);
    m.marks = (global kma_atomic_u32 *)kma_deref_in(heap, collector->marks);
    m.units = collector->units;
    m.type_count = type_count;
    m.types = types;
    m.references = references;
    m.collection = collection;
    m.queue = queue;
    m.count = &collection->counts[round];
    m.capacity = capacity;
    m.gathered = gathered;
    m.gathered_count = gathered_count;
    if (get_local_id(0) == 0)
        *gathered_count = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    return m;
}

// By the whole work-group: moves what it gathered to the queue.
static inline void kma_mark_flush(const kma_marking *m, local uint *first)
{
    barrier(CLK_LOCAL_MEM_FENCE);
    const uint count = min(*m->gathered_count, KMA_MARK_GATHERED);
    if (get_local_id(0) == 0 && count != 0)
        *first = kma_fetch_add_u32(m->count, count, KMA_RELAXED);
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint i = (uint)get_local_id(0); i < count; i += (uint)get_local_size(0))
        kma_mark_store(m, *first + i, m->gathered[i]);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (get_local_id(0) == 0)
        *m->gathered_count = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
}

#define KMA_MARKING(round)                                                                         \
    local kma_mark_item gathered[KMA_MARK_GATHERED];                                               \
    local uint gathered_count;                                                                     \
    local uint gathered_first;                                                                     \
    const kma_marking m = kma_marking_of(heap, types, type_count, references, collection, queue,   \
                                         capacity, round, gathered, &gathered_count)

// Marks what `count` references lead to, from number `first` of a buffer on, and queues it for
// round 0.
kernel void kma_mark_roots_kernel(global kma_heap *heap, global const kma_type *types,
                                  uint type_count, global const kma_reference *references,
                                  global kma_collection *collection, global kma_mark_item *queue,
                                  uint capacity, global const uint *roots, ulong first, ulong count)
{
    KMA_MARKING(0);
    const size_t items = get_global_size(0);
    for (size_t tile = get_group_id(0) * get_local_size(0); tile < count; tile += items) {
        const size_t i = tile + get_local_id(0);
        const uint reached =
            i < count ? kma_mark_reach(&m, KMA_NULL, (uint)(first + i), roots[first + i], 0)
                      : KMA_NULL;
        if (reached != KMA_NULL)
            kma_mark_push(&m, reached, KMA_MARK_UNSPLIT);
        kma_mark_flush(&m, &gathered_first);
    }
}

// A round: visits the items of queue `from`, and queues what it reaches for the next one.
kernel void kma_mark_round_kernel(global kma_heap *heap, global const kma_type *types,
                                  uint type_count, global const kma_reference *references,
                                  global kma_collection *collection, global kma_mark_item *queue,
                                  uint capacity, global const kma_mark_item *from, uint round)
{
    const uint count = min(kma_load_u32(&collection->counts[round], KMA_RELAXED), capacity);
    if (get_group_id(0) * get_local_size(0) >= count)
        return;
    KMA_MARKING(round + 1);
    const size_t items = get_global_size(0);
    for (size_t tile = get_group_id(0) * get_local_size(0); tile < count; tile += items) {
        const size_t i = tile + get_local_id(0);
        if (i < count)
            kma_mark_visit(&m, from[i]);
        kma_mark_flush(&m, &gathered_first);
    }
}

// Visits all marked objects, for those whose items were dropped, and queues for round 0.
kernel void kma_mark_again_kernel(global kma_heap *heap, global const kma_type *types,
                                  uint type_count, global const kma_reference *references,
                                  global kma_collection *collection, global kma_mark_item *queue,
                                  uint capacity)
{
    KMA_MARKING(0);
    const uint words = m.units / 32;
    const size_t items = get_global_size(0);
    for (size_t tile = get_group_id(0) * get_local_size(0); tile < words; tile += items) {
        const size_t i = tile + get_local_id(0);
        uint left = i < words ? kma_load_u32(&m.marks[i], KMA_RELAXED) : 0;
        for (; left != 0; left &= left - 1) {
            const kma_mark_item item = {(uint)i * 32 + kma_lowest_bit(left), KMA_MARK_UNSPLIT};
            kma_mark_visit(&m, item);
        }
        kma_mark_flush(&m, &gathered_first);
    }
}

// The units of 32 that have a type, a bit each.
static inline uint kma_units_with_types(global const uchar *table)
{
    uint units = 0;
    for (uint i = 0; i < 8; i++) {
        const uint four = ((global const uint *)table)[i];
        for (uint byte = 0; four != 0 && byte < 4; byte++)
            units |= (uint)((four >> 8 * byte & 255) != 0) << (4 * i + byte);
    }
    return units;
}

// Frees all typed objects without a mark, and clears the marks. Each work-item has 32 units at a
// time.
kernel void kma_sweep_kernel(global kma_heap *heap, global const kma_type *types, uint type_count,
                             global kma_collection *collection)
{
    local uint sums[4]; // marked objects, their units; freed objects, their units
    if (get_local_id(0) < 4)
        sums[get_local_id(0)] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    global kma_collector *const collector = kma_collector_of(heap);
    global kma_atomic_u32 *const marks =
        (global kma_atomic_u32 *)kma_deref_in(heap, collector->marks);
    uint mine[4] = {0, 0, 0, 0};
    for (size_t word = get_global_id(0); word < collector->units / 32; word += get_global_size(0)) {
        const uint marked = kma_load_u32(&marks[word], KMA_RELAXED);
        global uchar *const table = kma_type_at(heap, collector, (uint)word * 32);
        uint typed = kma_units_with_types(table);
        if (marked != 0)
            kma_store_u32(&marks[word], 0, KMA_RELAXED);
        for (; typed != 0; typed &= typed - 1) {
            const uint i = kma_lowest_bit(typed);
            const uint type = table[i];
            if ((type & ~KMA_TYPE_ARRAY) > type_count)
                continue; // damaged
            const kma_ref ref = (uint)word * 32 + i;
            global void *const object = kma_deref_in(heap, ref);
            const bool is_array = type >= KMA_TYPE_ARRAY;
            const ulong bytes = (ulong)types[(type & ~KMA_TYPE_ARRAY) - 1].bytes *
                                (is_array ? kma_array_length(object) : 1);
            const uint which = (marked >> i & 1) != 0 ? 0 : 2;
            mine[which]++;
            mine[which + 1] += (uint)kma_whole_units(bytes) + is_array;
            if (which == 0)
                continue;
            table[i] = 0;
            kma_free(heap, kma_typed_block(object, type));
        }
    }
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
