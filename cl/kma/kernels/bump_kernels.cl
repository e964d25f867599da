// The kernels that prepare a bump heap on a plain buffer. The host library launches them; so can any other program,
// built with the same -DKMA_DEBUG (and, on NVIDIA GPUs before Volta, -DKMA_NV_ARCH) as the kernels that use the heap.
#ifndef KMA_KERNELS_BUMP_KERNELS_CL
#define KMA_KERNELS_BUMP_KERNELS_CL

#include "kma/heap/bump.cl"

// `bytes`, an unsigned number of 64 bits, is the size of the buffer: at least sizeof(kma_bump) + 16, which is 1,552.
// Less leaves the buffer as it is. Any number of work-items, one dimension; 64 are enough.
kernel void kma_bump_init_kernel(global kma_bump *heap, ulong bytes)
{
    if (bytes >= sizeof(kma_bump) + KMA_UNIT)
        kma_bump_init(heap, bytes, get_global_id(0), get_global_size(0));
}

kernel void kma_bump_clear_errors_kernel(global kma_bump *heap)
{
    kma_error_log_init(&heap->header.errors, get_global_id(0), get_global_size(0));
}

kernel void kma_bump_reset_kernel(global kma_bump *heap)
{
    if (get_global_id(0) == 0)
        kma_bump_reset(heap);
}

#endif
