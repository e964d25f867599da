// Kernels that initialise, grow and reset a bump heap in a plain buffer, and count its memory. The
// host library launches them. Other programs can, too, if built with the same -DKMA_DEBUG as the
// kernels that use the heap (and, on NVIDIA GPUs before Volta, the same -DKMA_NV_ARCH).
#ifndef KMA_HEAP_BUMP_KERNELS_CL
#define KMA_HEAP_BUMP_KERNELS_CL

#include "kma/heap/bump.cl"
#include "kma/heap/common/stats.cl"
#include "kma/heap/common/stats_sum.cl"

// Initialises a heap in a buffer of `bytes`: at least kma_bump_begin + 1 units, which are 2,704
// bytes, and 7,952 with KMA_DEBUG 2 and 3. A smaller buffer stays as it is. Any number of
// work-items in one dimension; 64 are enough.
kernel void kma_bump_init_kernel(global kma_bump *heap, ulong bytes)
{
    if (bytes >= (kma_bump_begin(KMA_DEBUG) + 1) * (ulong)KMA_UNIT)
        kma_bump_init(heap, bytes, bytes, get_global_id(0), get_global_size(0));
}

// The same for a heap that can grow to `max_bytes`.
kernel void kma_bump_init_growing_kernel(global kma_bump *heap, ulong bytes, ulong max_bytes)
{
    if (bytes >= (kma_bump_begin(KMA_DEBUG) + 1) * (ulong)KMA_UNIT)
        kma_bump_init(heap, bytes, max_bytes, get_global_id(0), get_global_size(0));
}

// Grows a heap that was copied whole into this larger buffer of `bytes`. No effect if `bytes` is
// less than before or more than max_bytes. One work-item.
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

// Writes the statistics of a heap at rest; zeros if the buffer is no heap. One work-item.
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
