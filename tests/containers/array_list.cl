// kma/containers/array_list.cl: work-items let a list grow, and write into what they got.
#include "kma/containers/array_list.cl"

// Writes the k-th object of a work-item in a round.
static inline void write(global kma_heap *heap, global kma_array_list *list, uint index, uint me,
                         uint round, uint k)
{
    global uint *object = (global uint *)kma_array_list_get(heap, list, index);
    object[0] = me;
    object[1] = round;
    object[2] = k;
}

// In each round every work-item asks for n = asks[me * rounds + round] objects by `call`, and gets
// `count`, `step` apart, from index first[me * rounds + round] on, or KMA_ARRAY_LIST_NONE.
#define GROW(name, call, count, step)                                                              \
    kernel void name(global kma_heap *heap, kma_ref ref, uint rounds, global const uint *asks,     \
                     global uint *first)                                                           \
    {                                                                                              \
        local kma_group_words words;                                                               \
        global kma_array_list *list = kma_array_list_at(heap, ref);                                \
        const uint me = (uint)get_global_id(0);                                                    \
        for (uint round = 0; round < rounds; round++) {                                            \
            const uint n = asks[me * rounds + round];                                              \
            const uint all = count;                                                                \
            const uint index = call;                                                               \
            first[me * rounds + round] = index;                                                    \
            for (uint k = 0; index != KMA_ARRAY_LIST_NONE && k < all; k++)                         \
                write(heap, list, index + k * step, me, round, k);                                 \
        }                                                                                          \
    }
GROW(grow, kma_array_list_grow(heap, list, n), n, 1)
GROW(grow_local, kma_array_list_grow_local(heap, list, n, &words), n, 1)
GROW(grow_max, kma_array_list_grow_max(heap, list, n, &words), kma_group_max(&words, n),
     (uint)get_local_size(0))

// Gets what is not there, for KMA_DEBUG.
kernel void beyond(global kma_heap *heap, kma_ref ref, global uint *out)
{
    global kma_array_list *list = kma_array_list_at(heap, ref);
    out[0] = kma_array_list_get(heap, list, kma_array_list_size(list)) == (global void *)0 ? 1 : 0;
}

// The sums and maxima of groups, `rounds` times in a row.
kernel void sums(global const uint *numbers, uint rounds, global uint *before, global uint *total,
                 global uint *most)
{
    local kma_group_words words;
    for (uint round = 0; round < rounds; round++) {
        const uint at = (uint)get_global_id(0) * rounds + round;
        const kma_scan scan = kma_group_scan(&words, numbers[at]);
        before[at] = scan.before;
        total[at] = scan.total;
        most[at] = kma_group_max(&words, numbers[at]);
    }
}
