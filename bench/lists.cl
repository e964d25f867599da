// The kernels of the suite `lists`: each work-item makes BENCH_OBJECTS objects by malloc, in an
// arena or in an array list, and writes a word into each. places[k * work-items + me] is the place
// of the k-th: a ref, or an index.
#include "kma/containers/arena.cl"
#include "kma/containers/array_list.cl"
#include "paint.cl"

#define BENCH_OBJECTS 10u

static inline uint bench_object_word(uint me, uint k)
{
    return me * BENCH_OBJECTS + k;
}

static inline uint bench_object_place(uint me, uint k)
{
    return k * (uint)get_global_size(0) + me;
}

// Writes object `k` of this work-item; places[…] is 0 if there is none.
static inline void bench_write_block(global kma_heap *heap, global uint *object,
                                     global uint *places, uint k)
{
    const uint me = (uint)get_global_id(0);
    if (object)
        *object = bench_object_word(me, k);
    places[bench_object_place(me, k)] = kma_ref_of(heap, object);
}

// Makes each object by a malloc.
kernel void objects_by_malloc(global kma_heap *heap, global uint *places, uint bytes)
{
    for (uint k = 0; k < BENCH_OBJECTS; k++)
        bench_write_block(heap, (global uint *)kma_malloc(heap, bytes), places, k);
}

// Makes the objects in an arena.
kernel void objects_by_arena(global kma_heap *heap, kma_ref arena_ref, global uint *places,
                             uint bytes)
{
    global kma_arena *const arena = kma_arena_at(heap, arena_ref);
    for (uint k = 0; k < BENCH_OBJECTS; k++)
        bench_write_block(heap, (global uint *)kma_arena_alloc(heap, arena, bytes), places, k);
}

kernel void free_objects(global kma_heap *heap, global const uint *places)
{
    for (uint k = 0; k < BENCH_OBJECTS; k++)
        kma_free(heap, kma_deref(heap, places[bench_object_place((uint)get_global_id(0), k)]));
}

// Writes objects `k` to `k + each - 1` of this work-item, which lie `stride` apart in the list from
// `first` on.
static inline void bench_write_objects(global kma_heap *heap, global kma_array_list *list,
                                       global uint *places, uint k, uint each, uint first,
                                       uint stride)
{
    const uint me = (uint)get_global_id(0);
    for (uint i = 0; i < each; i++) {
        const uint index = first != KMA_ARRAY_LIST_NONE ? first + i * stride : KMA_ARRAY_LIST_NONE;
        if (index != KMA_ARRAY_LIST_NONE)
            *(global uint *)kma_array_list_get(heap, list, index) = bench_object_word(me, k + i);
        places[bench_object_place(me, k + i)] = index;
    }
}

// Makes the objects in a list, `each` at a time: 1, or BENCH_OBJECTS.
kernel void objects_by_grow(global kma_heap *heap, kma_ref list_ref, global uint *places, uint each)
{
    global kma_array_list *const list = kma_array_list_at(heap, list_ref);
    for (uint k = 0; k < BENCH_OBJECTS; k += each)
        bench_write_objects(heap, list, places, k, each, kma_array_list_grow(heap, list, each), 1);
}

kernel void objects_by_grow_local(global kma_heap *heap, kma_ref list_ref, global uint *places,
                                  uint each)
{
    local kma_group_words words;
    global kma_array_list *const list = kma_array_list_at(heap, list_ref);
    for (uint k = 0; k < BENCH_OBJECTS; k += each)
        bench_write_objects(heap, list, places, k, each,
                            kma_array_list_grow_local(heap, list, each, &words), 1);
}

kernel void objects_by_grow_max(global kma_heap *heap, kma_ref list_ref, global uint *places,
                                uint each)
{
    local kma_group_words words;
    global kma_array_list *const list = kma_array_list_at(heap, list_ref);
    for (uint k = 0; k < BENCH_OBJECTS; k += each)
        bench_write_objects(heap, list, places, k, each,
                            kma_array_list_grow_max(heap, list, each, &words),
                            (uint)get_local_size(0));
}

// Each work-item sums up its own objects, from the known place of the first in steps of `stride`:
// measures how the order of a list affects its readers (Spliet, thesis 5.3.2).
kernel void read_objects(global kma_heap *heap, kma_ref list_ref, global const uint *places,
                         uint stride, global uint *sums)
{
    const uint me = (uint)get_global_id(0);
    global kma_array_list *const list = kma_array_list_at(heap, list_ref);
    const uint first = places[me];
    uint sum = 0;
    if (first != KMA_ARRAY_LIST_NONE)
        for (uint k = 0; k < BENCH_OBJECTS; k++)
            sum += *(const global uint *)kma_array_list_get(heap, list, first + k * stride);
    sums[me] = sum;
}

// Counts missing objects, and objects with wrong contents: of two objects in one place one is
// wrong.
kernel void check_blocks(global kma_heap *heap, ulong heap_bytes, global const uint *places,
                         volatile global uint *counts)
{
    const uint me = (uint)get_global_id(0);
    for (uint k = 0; k < BENCH_OBJECTS; k++) {
        const uint ref = places[bench_object_place(me, k)];
        if (ref == KMA_NULL)
            atomic_inc(&counts[BENCH_NULLS]);
        else if ((ulong)ref * 16 + 16 > heap_bytes ||
                 *(global uint *)kma_deref(heap, ref) != bench_object_word(me, k))
            atomic_inc(&counts[BENCH_WRONG]);
    }
}

kernel void check_objects(global kma_heap *heap, kma_ref list_ref, global const uint *places,
                          volatile global uint *counts)
{
    const uint me = (uint)get_global_id(0);
    global kma_array_list *const list = kma_array_list_at(heap, list_ref);
    const uint size = kma_array_list_size(list);
    for (uint k = 0; k < BENCH_OBJECTS; k++) {
        const uint index = places[bench_object_place(me, k)];
        if (index == KMA_ARRAY_LIST_NONE)
            atomic_inc(&counts[BENCH_NULLS]);
        else if (index >= size ||
                 *(global uint *)kma_array_list_get(heap, list, index) != bench_object_word(me, k))
            atomic_inc(&counts[BENCH_WRONG]);
    }
}
