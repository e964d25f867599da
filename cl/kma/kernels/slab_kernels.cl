// The kernels that prepare a slab heap on a plain buffer, make it larger and empty it, and the one that counts what is
// in it. The host library launches them; so can any other program, built with the same -DKMA_DEBUG (and, on NVIDIA GPUs
// before Volta, -DKMA_NV_ARCH) as the kernels that use the heap.
#ifndef KMA_KERNELS_SLAB_KERNELS_CL
#define KMA_KERNELS_SLAB_KERNELS_CL

#include "kma/heap/slab.cl"
#include "kma/heap/stats.cl"
#include "kma/kernels/stats_sum.cl"

static inline void kma_slab_prepare(global kma_slab *heap, ulong bytes, ulong max_bytes, uint cursors)
{
    if (cursors == 0 || cursors > KMA_SL_CURSORS)
        cursors = KMA_SL_USUAL_CURSORS;
    if (kma_sl_plan_growing(bytes, max_bytes, cursors, KMA_DEBUG).chunks != 0)
        kma_slab_init(heap, bytes, max_bytes, cursors, false, get_global_id(0), get_global_size(0));
    else if (bytes >= sizeof(kma_slab))
        kma_slab_init_empty(heap, bytes, get_global_id(0), get_global_size(0));
}

// `bytes`, an unsigned number of 64 bits, is the size of the buffer; `cursors` (1 … 32, 0: 16) is how many places draw
// memory apart from one another, best a divisor of the device's compute units. Without room for 16 KiB it is a heap in
// which every request is too large; a buffer of less than sizeof(kma_slab) stays as it is. Any number of work-items, one
// dimension; about one for each 16 KiB of heap.
kernel void kma_slab_init_kernel(global kma_slab *heap, ulong bytes, uint cursors)
{
    kma_slab_prepare(heap, bytes, bytes, cursors);
}

// The same for a heap that may grow until it has `max_bytes`: `bytes` must have room for the metadata of so large a
// heap, and 16 KiB.
kernel void kma_slab_init_growing_kernel(global kma_slab *heap, ulong bytes, ulong max_bytes, uint cursors)
{
    kma_slab_prepare(heap, bytes, max_bytes, cursors);
}

// The growth: of a larger buffer of `bytes`, into which the smaller one was copied whole. What is not more, or more
// than max_bytes, leaves the heap as it was. One work-group of any size.
kernel void kma_slab_grow_kernel(global kma_slab *heap, ulong bytes)
{
    kma_slab_grow(heap, bytes, get_local_id(0), get_local_size(0));
}

// Frees all blocks at once; every ref and pointer is void. The error log stays.
kernel void kma_slab_reset_kernel(global kma_slab *heap)
{
    if (heap->plan.chunks != 0)
        kma_slab_init(heap, heap->header.bytes, heap->header.max_bytes, heap->plan.cursors, true, get_global_id(0),
                      get_global_size(0));
}

kernel void kma_slab_clear_errors_kernel(global kma_slab *heap)
{
    kma_error_log_init(&heap->header.errors, get_global_id(0), get_global_size(0));
}

#if KMA_DEBUG >= 2
#define KMA_KIND slab
#include "kma/kernels/stats_quarantine.cl" // kma_slab_stats_without_quarantine
#undef KMA_KIND
#endif

// Takes off a sum the slots that heads hold, which are nobody's blocks.
static inline void kma_slab_stats_without_heads(global kma_slab *heap, kma_heap_stats *sum, size_t me, size_t work_items)
{
    global kma_atomic_u32 *const heads = kma_sl_at(heap, heap->plan.heads);
    const uint places = heap->plan.places;
    for (size_t i = me; i < kma_sl_heads(places); i += work_items)
        if (kma_sl_head_has_slab(kma_load_u32(&heads[i], KMA_RELAXED))) {
            sum->blocks--;
            sum->used -= (ulong)kma_sl_units(kma_sl_head_class(places, (uint)i)) * KMA_UNIT;
        }
}

// Adds one chunk to a sum, and the slabs that begin there.
static inline void kma_slab_stats_add(global kma_slab *heap, kma_heap_stats *sum, uint chunk)
{
    const kma_sl_heap sl = kma_sl_open(heap);
    const uint used = kma_load_u32(kma_sl_used(&sl, chunk), KMA_RELAXED);
    bool has_holes = used != 0xffffffffu;
    for (uint line = chunk * KMA_SL_LINE; line < (chunk + 1) * KMA_SL_LINE; line++) {
        const uint mark = kma_sl_mark(&sl, line);
        if ((mark & KMA_SL_MARK_FORM) == 0)
            continue;
        const kma_sl_form form = kma_sl_form_of(&sl, line, mark);
        uint owners = kma_load_u32(kma_sl_word(&sl, line), KMA_RELAXED) & form.slots;
        has_holes |= owners != form.slots;
        sum->blocks += (uint)popcount(owners);
        for (; owners != 0; owners &= owners - 1)
            sum->used += (ulong)kma_sl_room(&form, kma_lowest_bit(owners)) * KMA_UNIT;
    }
    if (used == 0)
        sum->superblocks_free++;
    else if (has_holes)
        sum->superblocks_partial++;
    else
        sum->superblocks_full++;
}

// Writes the statistics of a heap at rest; zeros for a buffer that is none. One work-group of KMA_STATS_WORK_ITEMS.
__attribute__((reqd_work_group_size(KMA_STATS_WORK_ITEMS, 1, 1))) kernel void
kma_slab_stats_kernel(global kma_slab *heap, global kma_heap_stats *stats)
{
    local kma_heap_stats parts[KMA_STATS_WORK_ITEMS];
    const bool exists = kma_heap_exists(&heap->header, KMA_KIND_SLAB);
    const uint chunks = exists ? heap->plan.chunks : 0;
    kma_heap_stats mine = {0}; // all of it: it is copied as a whole
    for (uint chunk = (uint)get_local_id(0); chunk < chunks; chunk += KMA_STATS_WORK_ITEMS)
        kma_slab_stats_add(heap, &mine, chunk);
    if (chunks != 0)
        kma_slab_stats_without_heads(heap, &mine, get_local_id(0), KMA_STATS_WORK_ITEMS);
#if KMA_DEBUG >= 2
    if (chunks != 0)
        kma_slab_stats_without_quarantine(heap, &mine, get_local_id(0), KMA_STATS_WORK_ITEMS);
#endif
    parts[get_local_id(0)] = mine;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (get_local_id(0) == 0) {
        kma_heap_stats sum = parts[0];
        for (uint i = 1; i < KMA_STATS_WORK_ITEMS; i++)
            kma_stats_add(&sum, parts[i]);
        kma_stats_of_header(&sum, &heap->header, exists);
        sum.superblock_bytes = chunks != 0 ? (ulong)KMA_UNIT << (2 * KMA_SL_LINE_SHIFT) : 0; // its chunks
        sum.superblocks = chunks;
        *stats = sum;
    }
}

#endif
