// kma/containers/work_queue.cl: an item of value v leads to v % 4 items of smaller values.
#include "kma/containers/work_queue.cl"

typedef struct item {
    uint value;
    uint parent; // the index of the item in the round before that it is of
} item;

// Works on the items of a round: adds up their values, and makes those of the next.
kernel void work_step(global kma_heap *heap, kma_ref work, volatile global uint *sums, uint round,
                      volatile global uint *lost)
{
    local kma_group_words words;
    global kma_work_queue *queue = kma_work_queue_at(heap, work);
    global kma_array_list *now = kma_work_queue_now(heap, queue);
    global kma_array_list *next = kma_work_queue_next(heap, queue);
    const uint me = (uint)get_global_id(0);
    const bool is_one = me < kma_array_list_size(now);
    const uint value = is_one ? ((global item *)kma_array_list_get(heap, now, me))->value : 0;
    const uint count = value != 0 ? kma_mix32(value) % 4 : 0;
    const uint first = kma_array_list_grow_local(heap, next, count, &words);
    atomic_add(&sums[round], value);
    if (first == KMA_ARRAY_LIST_NONE && count != 0)
        atomic_inc(lost);
    for (uint k = 0; first != KMA_ARRAY_LIST_NONE && k < count; k++) {
        global item *made = (global item *)kma_array_list_get(heap, next, first + k);
        made->value = kma_mix32(value * 4 + k) % value;
        made->parent = me;
    }
}

// Backwards: each item adds 1 and its own count to its parent's count, in the round before.
kernel void count_down(global kma_heap *heap, kma_ref work, global const uint *counts,
                       volatile global uint *before)
{
    global kma_work_queue *queue = kma_work_queue_at(heap, work);
    global kma_array_list *now = kma_work_queue_now(heap, queue);
    const uint me = (uint)get_global_id(0);
    if (me < kma_array_list_size(now))
        atomic_add(&before[((global item *)kma_array_list_get(heap, now, me))->parent],
                   1 + counts[me]);
}

// A queue that one work-item makes, uses and deletes. out: the sum of its items; how many it kept.
kernel void alone(global kma_heap *heap, global uint *out)
{
    if (get_global_id(0) != 0)
        return;
    const kma_ref ref = kma_work_queue_new(heap, 4, 4, 4, 16);
    if (ref == KMA_NULL)
        return;
    global kma_work_queue *queue = kma_work_queue_at(heap, ref);
    uint sum = 0;
    for (uint round = 0; round < 20; round++) {
        global kma_array_list *next = kma_work_queue_next(heap, queue);
        const uint first = kma_array_list_grow(heap, next, round);
        for (uint k = 0; first != KMA_ARRAY_LIST_NONE && k < round; k++)
            *(global uint *)kma_array_list_get(heap, next, first + k) = round * 100 + k;
        if (!kma_work_queue_turn(heap, queue, round % 2 == 0))
            return;
        global kma_array_list *now = kma_work_queue_now(heap, queue);
        for (uint k = 0; k < kma_array_list_size(now); k++)
            sum += *(global uint *)kma_array_list_get(heap, now, k);
    }
    uint kept = 0;
    while (kma_work_queue_back(heap, queue)) // one round less each time
        kept += kma_array_list_size(kma_work_queue_now(heap, queue));
    out[0] = sum;
    out[1] = kept;
    kma_work_queue_delete(heap, queue);
}
