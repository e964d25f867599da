// Kernels that make, advance and fill work queues in a heap of the program's kind, launched by the
// host library or by any other program. One work-item does the work, except in
// kma_work_queue_add_kernel.
#ifndef KMA_CONTAINERS_WORK_QUEUE_KERNELS_CL
#define KMA_CONTAINERS_WORK_QUEUE_KERNELS_CL

#include "kma/containers/work_queue.cl"

// Makes a queue. *made: its ref, or KMA_NULL if there is no memory.
kernel void kma_work_queue_new_kernel(global kma_heap *heap, uint item_bytes, uint align,
                                      uint items, uint most, global kma_ref *made)
{
    if (get_global_id(0) == 0)
        *made = kma_work_queue_new(heap, item_bytes, align, items, most);
}

kernel void kma_work_queue_delete_kernel(global kma_heap *heap, kma_ref work)
{
    if (get_global_id(0) == 0)
        kma_work_queue_delete(heap, kma_work_queue_at(heap, work));
}

// Result of a kernel: whether the call succeeded, and the queue's item counts.
typedef struct kma_work_told {
    uint done;
    uint now;  // items of this round
    uint next; // items of the next round
} kma_work_told;

static inline void kma_work_queue_tell(global kma_heap *heap, global kma_work_queue *queue,
                                       bool done, global kma_work_told *told)
{
    told->done = done ? 1 : 0;
    told->now = kma_array_list_size(kma_work_queue_now(heap, queue));
    told->next = kma_array_list_size(kma_work_queue_next(heap, queue));
}

kernel void kma_work_queue_size_kernel(global kma_heap *heap, kma_ref work,
                                       global kma_work_told *told)
{
    if (get_global_id(0) == 0)
        kma_work_queue_tell(heap, kma_work_queue_at(heap, work), true, told);
}

kernel void kma_work_queue_turn_kernel(global kma_heap *heap, kma_ref work, uint keep,
                                       global kma_work_told *told)
{
    if (get_global_id(0) != 0)
        return;
    global kma_work_queue *queue = kma_work_queue_at(heap, work);
    kma_work_queue_tell(heap, queue, kma_work_queue_turn(heap, queue, keep != 0), told);
}

kernel void kma_work_queue_back_kernel(global kma_heap *heap, kma_ref work,
                                       global kma_work_told *told)
{
    if (get_global_id(0) != 0)
        return;
    global kma_work_queue *queue = kma_work_queue_at(heap, work);
    kma_work_queue_tell(heap, queue, kma_work_queue_back(heap, queue), told);
}

// Adds `count` items to the next round. *lost counts items for which there was no memory. Any
// number of work-items, one dimension.
kernel void kma_work_queue_add_kernel(global kma_heap *heap, kma_ref work, uint count,
                                      global const uchar *items, global kma_atomic_u32 *lost)
{
    global kma_work_queue *queue = kma_work_queue_at(heap, work);
    global kma_array_list *next = kma_work_queue_next(heap, queue);
    const uint bytes = queue->item_bytes;
    for (size_t i = get_global_id(0); i < count; i += get_global_size(0)) {
        const uint index = kma_array_list_grow(heap, next, 1);
        if (index == KMA_ARRAY_LIST_NONE) {
            kma_fetch_add_u32(lost, 1, KMA_RELAXED);
            continue;
        }
        global uchar *to = (global uchar *)kma_array_list_get(heap, next, index);
        for (uint k = 0; k < bytes; k++)
            to[k] = items[i * bytes + k];
    }
}

#endif
