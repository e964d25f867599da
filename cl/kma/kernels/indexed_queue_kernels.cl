// The kernel that prepares an indexed queue on a plain buffer of sizeof(kma_queue) + (capacity + 1) nodes.
#include "kma/lockfree/indexed_queue.cl"

// Any number of work-items, one dimension. Items 0 … items-1 are in the queue afterwards.
kernel void kma_queue_init_kernel(global kma_queue *queue, uint capacity, uint items, uint first_tag)
{
    kma_queue_init(queue, capacity, items, first_tag, get_global_id(0), get_global_size(0));
}
