// The kernels that prepare a bump heap on a plain buffer. The host library launches them; so can
// any other program, built with the same -DKMA_DEBUG (and, on NVIDIA GPUs before Volta,
// -DKMA_NV_ARCH) as the kernels that use the heap.
#ifndef KMA_HEAP_BUMP_KERNELS_CL
#define KMA_HEAP_BUMP_KERNELS_CL

#include "kma/heap/bump.cl"
#include "kma/heap/common/stats.cl"
#include "kma/heap/common/stats_sum.cl"

// `bytes`, an unsigned number of 64 bits, is the size of the buffer: at least kma_bump_begin + 1
// units, which are 2,704, from KMA_DEBUG 2 on 7,952. Less leaves the buffer as it is. Any number of
// work-items, one dimension; 64 are enough.
kernel void kma_bump_init_kernel(global kma_bump *heap, ulong bytes)
{
    if (bytes >= (kma_bump_begin(KMA_DEBUG) + 1) * (ulong)KMA_UNIT)
        kma_bump_init(heap, bytes, bytes, get_global_id(0), get_global_size(0));
}

// The same for a heap that may grow until it has `max_bytes`.
kernel void kma_bump_init_growing_kernel(global kma_bump *heap, ulong bytes, ulong max_bytes)
{
    if (bytes >= (kma_bump_begin(KMA_DEBUG) + 1) * (ulong)KMA_UNIT)
        kma_bump_init(heap, bytes, max_bytes, get_global_id(0), get_global_size(0));
}

// The growth: of a larger buffer of `bytes`, into which the smaller one was copied whole. What is
// not more, or more than max_bytes, leaves the heap as it was. One work-item.
kernel void kma_bump_grow_kernel(global kma_bump *heap, ulong bytes)
{
    if (get_global_id(0) == 0)
        kma_bump_grow(heap, bytes);
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

// Writes the statistics of a heap at rest; zeros for a buffer that is none. One work-item.
kernel void kma_bump_stats_kernel(global kma_bump *heap, global kma_heap_stats *stats)
{
    if (get_global_id(0) != 0)
        return;
    kma_heap_stats now;
    const bool exists = kma_heap_exists(&heap->header, KMA_KIND_BUMP);
    kma_stats_of_header(&now, &heap->header, exists);
    now.used =
        !exists
            ? 0
            : (ulong)(kma_bump_load_head(&heap->head, KMA_RELAXED) - heap->header.begin) * KMA_UNIT;
    now.blocks = 0;
    now.superblock_bytes = now.superblocks = 0;
    now.superblocks_free = now.superblocks_partial = now.superblocks_full = 0;
    *stats = now;
}

#endif
