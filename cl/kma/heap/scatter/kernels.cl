// Kernels that make a scatter heap of a plain buffer, make it larger, empty it, and count what is
// in it. The host library launches them; any other program can, if it is built with the same
// -DKMA_DEBUG (and, on NVIDIA GPUs before Volta, -DKMA_NV_ARCH) as the kernels that use the heap.
#ifndef KMA_HEAP_SCATTER_KERNELS_CL
#define KMA_HEAP_SCATTER_KERNELS_CL

#include "kma/heap/scatter.cl"
#include "kma/heap/common/stats.cl"
#include "kma/heap/common/stats_sum.cl"

static inline void kma_scatter_prepare(global kma_scatter *heap, ulong bytes, ulong max_bytes,
                                       uint shift, uint super_shift)
{
    if (shift >= KMA_SCATTER_MIN_SHIFT && shift <= KMA_SCATTER_MAX_SHIFT &&
        super_shift <= KMA_SCATTER_MAX_SUPER_SHIFT &&
        kma_scatter_plan_growing(bytes, max_bytes, shift, super_shift, KMA_DEBUG).pages != 0)
        kma_scatter_init(heap, bytes, max_bytes, shift, super_shift, false, get_global_id(0),
                         get_global_size(0));
    else if (bytes >= sizeof(kma_scatter))
        kma_scatter_init_empty(heap, bytes, get_global_id(0), get_global_size(0));
}

// Makes a heap of a buffer of `bytes`, with pages of 16 << shift bytes (`shift` 8, 9 or 10) and
// regions of 2^super_shift pages (0 … 16). Without space for one page, or with another shift, every
// request is too large. A buffer of less than sizeof(kma_scatter), which is 4,224, stays as it is.
// Any number of work-items, one dimension; about one for each 16 KiB.
kernel void kma_scatter_init_kernel(global kma_scatter *heap, ulong bytes, uint shift,
                                    uint super_shift)
{
    kma_scatter_prepare(heap, bytes, bytes, shift, super_shift);
}

// The same for a heap that may grow to `max_bytes`. `bytes` must hold the metadata of the larger
// heap and one page.
kernel void kma_scatter_init_growing_kernel(global kma_scatter *heap, ulong bytes, ulong max_bytes,
                                            uint shift, uint super_shift)
{
    kma_scatter_prepare(heap, bytes, max_bytes, shift, super_shift);
}

// Makes the heap larger: `heap` is a buffer of `bytes` into which the smaller one was copied whole.
// Does nothing if that is not more, or more than max_bytes. One work-group of any size.
kernel void kma_scatter_grow_kernel(global kma_scatter *heap, ulong bytes)
{
    kma_scatter_grow(heap, bytes, get_local_id(0), get_local_size(0));
}

// Frees all blocks at once; all refs and pointers become invalid. The error log stays.
kernel void kma_scatter_reset_kernel(global kma_scatter *heap)
{
    if (heap->plan.pages != 0)
        kma_scatter_init(heap, heap->header.bytes, heap->header.max_bytes, heap->plan.shift,
                         heap->plan.super_shift, true, get_global_id(0), get_global_size(0));
}

kernel void kma_scatter_clear_errors_kernel(global kma_scatter *heap)
{
    kma_error_log_init(&heap->header.errors, get_global_id(0), get_global_size(0));
}

#if KMA_DEBUG >= 2
#define KMA_KIND scatter
#include "kma/heap/common/stats_quarantine.cl" // kma_scatter_stats_without_quarantine
#undef KMA_KIND
#endif

// Adds one region to a sum.
static inline void kma_scatter_stats_add(global kma_scatter *heap, kma_heap_stats *sum, uint super)
{
    const kma_scatter_heap sc = kma_scatter_open(heap);
    const uint shift = heap->plan.shift;
    const uint first = super << heap->plan.super_shift;
    const uint behind = min(first + (1u << heap->plan.super_shift), heap->plan.pages);
    uint free_pages = 0;
    bool has_room = false;
    for (uint page = first; page < behind; page++) {
        const uint word = kma_load_u32(kma_scatter_page(&sc, page), KMA_RELAXED);
        const uint split = kma_scatter_split(word);
        has_room |= (word & KMA_SCATTER_FREE) != 0 || kma_scatter_has_room(word, shift);
        if (word & KMA_SCATTER_FREE) {
            free_pages++;
        } else if (split >= KMA_SCATTER_HEAD) {
            sum->blocks += split == KMA_SCATTER_HEAD ? 1 : 0;
            sum->used += ((ulong)KMA_UNIT << shift);
        // a larger split is damage, which the host's check() reports
        } else if (split < kma_scatter_classes(shift)) {
            sum->blocks += word & KMA_SCATTER_COUNT;
            sum->used +=
                (ulong)(word & KMA_SCATTER_COUNT) * kma_scatter_units(split, shift) * KMA_UNIT;
        }
    }
    if (free_pages == behind - first)
        sum->superblocks_free++;
    else if (has_room)
        sum->superblocks_partial++;
    else
        sum->superblocks_full++;
}

// Writes the statistics of a heap that no other kernel uses; zeros for a buffer without a heap. One
// work-group of KMA_STATS_WORK_ITEMS.
__attribute__((reqd_work_group_size(KMA_STATS_WORK_ITEMS, 1, 1))) kernel void
kma_scatter_stats_kernel(global kma_scatter *heap, global kma_heap_stats *stats)
{
    local kma_heap_stats parts[KMA_STATS_WORK_ITEMS];
    const bool exists = kma_heap_exists(&heap->header, KMA_KIND_SCATTER);
    const uint supers = exists && heap->plan.pages != 0 ? heap->plan.supers : 0;
    kma_heap_stats mine = {0}; // all bytes: it is copied as a whole
    for (uint super = (uint)get_local_id(0); super < supers; super += KMA_STATS_WORK_ITEMS)
        kma_scatter_stats_add(heap, &mine, super);
#if KMA_DEBUG >= 2
    if (supers != 0)
        kma_scatter_stats_without_quarantine(heap, &mine, get_local_id(0), KMA_STATS_WORK_ITEMS);
#endif
    parts[get_local_id(0)] = mine;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (get_local_id(0) == 0) {
        kma_heap_stats sum = parts[0];
        for (uint i = 1; i < KMA_STATS_WORK_ITEMS; i++)
            kma_stats_add(&sum, parts[i]);
        kma_stats_of_header(&sum, &heap->header, exists);
        sum.superblock_bytes =
            supers != 0 ? ((ulong)KMA_UNIT << heap->plan.shift) << heap->plan.super_shift : 0;
        sum.superblocks = supers;
        *stats = sum;
    }
}

#endif
