// Kernels that make an indexed queue of a plain buffer of sizeof(kma_queue) + (capacity + 1) *
// sizeof(kma_queue_node) bytes.
#ifndef KMA_LOCKFREE_INDEXED_QUEUE_KERNELS_CL
#define KMA_LOCKFREE_INDEXED_QUEUE_KERNELS_CL

#include "kma/lockfree/indexed_queue.cl"

// Makes a queue that holds items 0 … items-1. Any number of work-items, one dimension.
kernel void kma_queue_init_kernel(global kma_queue *queue, uint capacity, uint items,
                                  uint first_tag)
{
    kma_queue_init(queue, capacity, items, first_tag, get_global_id(0), get_global_size(0));
}

// Reports the sizes from which a host computes the buffer's, by this device's struct layout.
kernel void kma_queue_shape_kernel(global ulong *shape)
{
    if (get_global_id(0) != 0)
        return;
    shape[0] = sizeof(kma_queue);
    shape[1] = sizeof(kma_queue_node);
    shape[2] = KMA_QUEUE_MAX_CAPACITY;
    shape[3] = KMA_QUEUE_TAG_BITS;
}

#endif
