// kma/containers/array_list.cl: work-items let a list grow, and write into what they got.
#include "kma/containers/array_list.cl"

#define WORDS 3 // of an object

// Work-item `me` asks for so many in a round.
static inline uint wanted(uint me, uint round, uint most)
{
    return kma_mix32(me * 16 + round) % (most + 1);
}

// What the k-th object of a work-item in a round holds.
static inline void write(global kma_heap *heap, global kma_array_list *list, uint index, uint me, uint round, uint k)
{
    global uint *object = (global uint *)kma_array_list_get(heap, list, index);
    object[0] = me;
    object[1] = round;
    object[2] = k;
}

// first[me * rounds + round]: the index, or KMA_ARRAY_LIST_NONE. Work-items from `items` on ask for nothing.
kernel void grow(global kma_heap *heap, kma_ref ref, uint rounds, uint most, uint items, global uint *first)
{
    global kma_array_list *list = kma_array_list_at(heap, ref);
    const uint me = (uint)get_global_id(0);
    for (uint round = 0; round < rounds; round++) {
        const uint n = me < items ? wanted(me, round, most) : 0;
        const uint index = kma_array_list_grow(heap, list, n);
        first[me * rounds + round] = index;
        for (uint k = 0; index != KMA_ARRAY_LIST_NONE && k < n; k++)
            write(heap, list, index + k, me, round, k);
    }
}

// The same, collective.
kernel void grow_local(global kma_heap *heap, kma_ref ref, uint rounds, uint most, uint items, global uint *first)
{
    local kma_group_words words;
    global kma_array_list *list = kma_array_list_at(heap, ref);
    const uint me = (uint)get_global_id(0);
    for (uint round = 0; round < rounds; round++) {
        const uint n = me < items ? wanted(me, round, most) : 0;
        const uint index = kma_array_list_grow_local(heap, list, n, &words);
        first[me * rounds + round] = index;
        for (uint k = 0; index != KMA_ARRAY_LIST_NONE && k < n; k++)
            write(heap, list, index + k, me, round, k);
    }
}

// The same, as many for each as the group's maximum.
kernel void grow_max(global kma_heap *heap, kma_ref ref, uint rounds, uint most, uint items, global uint *first)
{
    local kma_group_words words;
    global kma_array_list *list = kma_array_list_at(heap, ref);
    const uint me = (uint)get_global_id(0);
    for (uint round = 0; round < rounds; round++) {
        const uint n = me < items ? wanted(me, round, most) : 0;
        const uint all = kma_group_max(&words, n);
        const uint index = kma_array_list_grow_max(heap, list, n, &words);
        first[me * rounds + round] = index;
        for (uint k = 0; index != KMA_ARRAY_LIST_NONE && k < all; k++)
            write(heap, list, index + k * (uint)get_local_size(0), me, round, k);
    }
}

// Odd work-items ask, in an arm of their own; then those that are a multiple of four: lanes apart.
kernel void grow_apart(global kma_heap *heap, kma_ref ref, kma_ref other, global uint *first)
{
    const uint me = (uint)get_global_id(0);
    global kma_array_list *list = kma_array_list_at(heap, me % 3 == 0 ? other : ref);
    uint index = KMA_ARRAY_LIST_NONE;
    if (me % 2 == 1)
        index = kma_array_list_grow(heap, list, 1);
    else if (me % 4 == 0)
        index = kma_array_list_grow(heap, list, 2);
    first[me] = index;
    for (uint k = 0; index != KMA_ARRAY_LIST_NONE && k < (me % 2 == 1 ? 1u : 2u); k++)
        write(heap, list, index + k, me, 0, k);
}

// Lists that kernels make: one for each work-item, which has its numbers, and may be deleted again.
kernel void lists(global kma_heap *heap, global kma_ref *refs, uint count, uint deletes)
{
    const uint me = (uint)get_global_id(0);
    const kma_ref ref = kma_array_list_new(heap, 4, 4, 4, me % 3 == 0 ? 16 : 4);
    refs[me] = ref;
    if (ref == KMA_NULL)
        return;
    global kma_array_list *list = kma_array_list_at(heap, ref);
    for (uint i = 0; i < count; i++) {
        const uint index = kma_array_list_grow(heap, list, 1);
        if (index == i)
            *(global uint *)kma_array_list_get(heap, list, index) = me * 1000 + i;
    }
    if (deletes != 0) {
        kma_array_list_delete(heap, list);
        refs[me] = KMA_NULL;
    }
}

// What is refused: nothing, and too many. Work-item 17 asks for `n`, the others for `others` each.
kernel void refused_grow(global kma_heap *heap, kma_ref ref, uint n, uint others, global uint *out)
{
    const uint me = (uint)get_global_id(0);
    out[me] = kma_array_list_grow(heap, kma_array_list_at(heap, ref), me == 17 ? n : others);
}

kernel void refused_grow_local(global kma_heap *heap, kma_ref ref, uint n, uint others, global uint *out)
{
    local kma_group_words words;
    const uint me = (uint)get_global_id(0);
    out[me] = kma_array_list_grow_local(heap, kma_array_list_at(heap, ref), me == 17 ? n : others, &words);
}

kernel void refused_grow_max(global kma_heap *heap, kma_ref ref, uint n, uint others, global uint *out)
{
    local kma_group_words words;
    const uint me = (uint)get_global_id(0);
    out[me] = kma_array_list_grow_max(heap, kma_array_list_at(heap, ref), me == 17 ? n : others, &words);
}

// What is not there, with KMA_DEBUG.
kernel void beyond(global kma_heap *heap, kma_ref ref, global uint *out)
{
    global kma_array_list *list = kma_array_list_at(heap, ref);
    out[0] = kma_array_list_get(heap, list, kma_array_list_size(list)) == (global void *)0 ? 1 : 0;
}

// The sums and maxima of groups, each a few times in a row.
kernel void sums(global uint *before, global uint *total, global uint *most)
{
    local kma_group_words words;
    const uint me = (uint)get_global_id(0);
    for (uint round = 0; round < 3; round++) {
        const kma_scan scan = kma_group_scan(&words, wanted(me, round, 50));
        before[me * 3 + round] = scan.before;
        total[me * 3 + round] = scan.total;
        most[me * 3 + round] = kma_group_max(&words, wanted(me, round, 50));
    }
}
