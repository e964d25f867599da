// The kernels that prepare a bump heap on a plain buffer. The host library launches them; so can any other program.
#include "kma/heap/bump.cl"

// Any number of work-items, one dimension; about 64 are enough.
kernel void kma_bump_init_kernel(global kma_bump *heap, ulong bytes)
{
    kma_bump_init(heap, bytes, get_global_id(0), get_global_size(0));
}

kernel void kma_bump_reset_kernel(global kma_bump *heap)
{
    if (get_global_id(0) == 0)
        kma_bump_reset(heap);
}
