// Kernels that make a slab heap of a plain buffer, make it larger, empty it, and count what is in
// it. The host library launches them; any other program can, if it is built with the same
// -DKMA_DEBUG (and, on NVIDIA GPUs before Volta, -DKMA_NV_ARCH) as the kernels that use the heap.
#ifndef KMA_HEAP_SLAB_KERNELS_CL
#define KMA_HEAP_SLAB_KERNELS_CL

#include "kma/heap/slab.cl"
#include "kma/heap/common/stats.cl"
#include "kma/heap/common/stats_sum.cl"

static inline void kma_slab_prepare(global kma_slab *heap, ulong bytes, ulong max_bytes,
                                    uint cursors)
{
    if (cursors == 0 || cursors > KMA_SLAB_CURSORS)
        cursors = KMA_SLAB_USUAL_CURSORS;
    if (kma_slab_plan_growing(bytes, max_bytes, cursors, KMA_DEBUG).frames != 0)
        kma_slab_init(heap, bytes, max_bytes, cursors, false, get_global_id(0), get_global_size(0));
    else if (bytes >= sizeof(kma_slab))
        kma_slab_init_empty(heap, bytes, get_global_id(0), get_global_size(0));
}

// Makes a heap of a buffer of `bytes`. `cursors` (1 … 32; 0: 16) is the number of parts of a device
// that draw memory apart from one another, best a divisor of its compute units. With less than 8
// KiB for frames every request is too large. A buffer of less than sizeof(kma_slab) stays as it is.
// Any number of work-items, one dimension; about one for each 8 KiB.
kernel void kma_slab_init_kernel(global kma_slab *heap, ulong bytes, uint cursors)
{
    kma_slab_prepare(heap, bytes, bytes, cursors);
}

// The same for a heap that may grow to `max_bytes`. `bytes` must hold the metadata of the larger
// heap and 8 KiB.
kernel void kma_slab_init_growing_kernel(global kma_slab *heap, ulong bytes, ulong max_bytes,
                                         uint cursors)
{
    kma_slab_prepare(heap, bytes, max_bytes, cursors);
}

// Makes the heap larger: `heap` is a buffer of `bytes` into which the smaller one was copied whole.
// Does nothing if that is not more, or more than max_bytes. One work-group of any size.
kernel void kma_slab_grow_kernel(global kma_slab *heap, ulong bytes)
{
    kma_slab_grow(heap, bytes, get_local_id(0), get_local_size(0));
}

// Frees all blocks at once; all refs and pointers become invalid. The error log stays.
kernel void kma_slab_reset_kernel(global kma_slab *heap)
{
    if (heap->plan.frames != 0)
        kma_slab_init(heap, heap->header.bytes, heap->header.max_bytes, heap->plan.cursors, true,
                      get_global_id(0), get_global_size(0));
}

kernel void kma_slab_clear_errors_kernel(global kma_slab *heap)
{
    kma_error_log_init(&heap->header.errors, get_global_id(0), get_global_size(0));
}

#if KMA_DEBUG >= 2
#define KMA_KIND slab
#include "kma/heap/common/stats_quarantine.cl" // kma_slab_stats_without_quarantine
#undef KMA_KIND
#endif

// Adds one frame's blocks to a sum: those of its page, or of the slabs and runs that begin there.
static inline void kma_slab_stats_add(global kma_slab *heap, kma_heap_stats *sum, uint frame)
{
    const uint used = kma_load_u32(kma_slab_used(heap, frame), KMA_RELAXED);
    bool has_holes = used != KMA_SLAB_FULL;
    for (uint i = 0; i < KMA_SLAB_FRAME_LINES; i++) {
        const uint line = (frame << KMA_SLAB_FRAME_SHIFT) + i;
        const uint word = kma_load_u32(kma_slab_word(heap, line), KMA_RELAXED);
        if ((word & KMA_SLAB_FORM) == KMA_SLAB_PAGE &&
            kma_slab_page_class(word) < KMA_SLAB_PAGE_CLASSES) {
            const uint units = kma_slab_units(kma_slab_page_class(word));
            const uint taken =
                i < 1u << kma_slab_page_shift(units) ? word & kma_slab_page_slots(word) : 0;
            has_holes |= i < 1u << kma_slab_page_shift(units) && taken != kma_slab_page_slots(word);
            sum->blocks += (uint)popcount(taken);
            sum->used += (ulong)popcount(taken) * units * KMA_UNIT;
        } else if (kma_slab_is_equal(word)) {
            const uint taken = word & kma_slab_slots(word);
            has_holes |= taken != kma_slab_slots(word);
            sum->blocks += (uint)popcount(taken);
            sum->used +=
                (ulong)popcount(taken) * kma_slab_units(kma_slab_equal_class(word)) * KMA_UNIT;
        } else if (kma_slab_is_mixed(word)) {
            const kma_slab_planes planes = kma_slab_load_planes(heap, line, word);
            has_holes |= (word & KMA_SLAB_OCCUPANCY) != KMA_SLAB_OCCUPANCY;
            for (uint left = word & KMA_SLAB_OCCUPANCY; left != 0; left &= left - 1) {
                sum->blocks++;
                sum->used += (ulong)kma_slab_mixed_units(&planes, kma_lowest_bit(left)) * KMA_UNIT;
            }
        } else if ((word & KMA_SLAB_FORM) == 0 && (word & KMA_SLAB_RUN) != 0) {
            sum->blocks++;
            sum->used += (ulong)(word & KMA_SLAB_RUN_LINES) * KMA_SLAB_LINE_UNITS * KMA_UNIT;
        }
    }
    if (used == 0)
        sum->superblocks_free++;
    else if (has_holes)
        sum->superblocks_partial++;
    else
        sum->superblocks_full++;
}

// Writes the statistics of a heap that no other kernel uses; zeros for a buffer without a heap. One
// work-group of KMA_STATS_WORK_ITEMS.
__attribute__((reqd_work_group_size(KMA_STATS_WORK_ITEMS, 1, 1))) kernel void
kma_slab_stats_kernel(global kma_slab *heap, global kma_heap_stats *stats)
{
    local kma_heap_stats parts[KMA_STATS_WORK_ITEMS];
    const bool exists = kma_heap_exists(&heap->header, KMA_KIND_SLAB);
    const uint frames = exists ? heap->plan.frames : 0;
    kma_heap_stats mine = {0}; // all bytes: it is copied as a whole
    for (uint frame = (uint)get_local_id(0); frame < frames; frame += KMA_STATS_WORK_ITEMS)
        kma_slab_stats_add(heap, &mine, frame);
#if KMA_DEBUG >= 2
    if (frames != 0)
        kma_slab_stats_without_quarantine(heap, &mine, get_local_id(0), KMA_STATS_WORK_ITEMS);
#endif
    parts[get_local_id(0)] = mine;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (get_local_id(0) == 0) {
        kma_heap_stats sum = parts[0];
        for (uint i = 1; i < KMA_STATS_WORK_ITEMS; i++)
            kma_stats_add(&sum, parts[i]);
        kma_stats_of_header(&sum, &heap->header, exists);
        // a slab heap's superblocks are its frames
        sum.superblock_bytes = frames != 0 ? (ulong)KMA_SLAB_FRAME_UNITS * KMA_UNIT : 0;
        sum.superblocks = frames;
        *stats = sum;
    }
}

#endif
