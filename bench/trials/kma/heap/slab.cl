// The slab heap: what lanes take together is one slab, side by side, of any sizes; what they take alone comes from slabs
// that they share.
//
// Memory is lines of 512 bytes. Lanes that ask together add what they want to a cursor of their place, which tells them
// lines that nobody else is told of, and claim these; sizes are noted as bit planes, so that blocks lie as close as 16
// bytes allow. Free finds the slab from the block by one look, and clears the blocks' bits in one word; who clears the last
// one gives the lines back, which may serve any size.
//
//   slab_layout.cl    the picture in memory, forms of slabs, and sizes
//   slab_lines.cl     lines: claims, and chunks with room
//   slab_cursors.cl   where lanes together claim lines
//   slab_gaps.cl      how free lines are found elsewhere
//   slab_form.cl      what a slab's mark and data say: where its slots are
//   slab_holes.cl     its life: slots become free, are filled again, and it ends
//   slab_heads.cl     lanes alone: shared slabs
//   slab_take.cl      lanes together: a slab of their own
//   slab_runs.cl      large blocks, and those for which there is no room elsewhere
//   slab_release.cl   free
//   slab_init.cl      what a heap begins with
//
// A draft, to measure what a heap around the loops of docs/slab-design.md costs: it has no red zones yet, no statistics, no
// realloc, no growth, and no checks on the host.
#ifndef KMA_HEAP_SLAB_CL
#define KMA_HEAP_SLAB_CL

#include "kma/heap/error_log.cl"
#include "kma/heap/ref.cl"
#include "kma/heap/slab_init.cl"
#include "kma/heap/slab_release.cl"
#include "kma/heap/slab_runs.cl"
#include "kma/heap/slab_take.cl"

// What a request needs.
typedef struct kma_sl_need {
    uint units; // 0: nothing
    uint align; // in units
    uint size_class; // KMA_SL_CLASSES: of none, a run
    uint error;      // why it cannot be, or what it is if there is no room
} kma_sl_need;

// For `bytes` at a multiple of `align`; nothing for no bytes, and for what cannot be.
static inline kma_sl_need kma_slab_need(const kma_sl_heap *sl, size_t align, size_t bytes)
{
    kma_sl_need need;
    need.units = 0;
    need.align = 1;
    need.size_class = KMA_SL_CLASSES;
    need.error = KMA_ERROR_OUT_OF_MEMORY;
    if (!kma_is_power_of_two(align) || align > KMA_SL_ALIGN)
        need.error = KMA_ERROR_BAD_ALIGNMENT;
    if (bytes == 0 || need.error != KMA_ERROR_OUT_OF_MEMORY)
        return need;
    ulong room = bytes;
    if (room > ((ulong)sl->plan.room << (2 * KMA_SL_LINE_SHIFT)) * KMA_UNIT) {
        need.error = KMA_ERROR_TOO_LARGE;
        return need;
    }
    need.units = (uint)kma_whole_units(room);
    need.align = align <= KMA_UNIT ? 1 : (uint)align / KMA_UNIT;
    const uint least = max(need.units, need.align);
    if (least > KMA_SL_MOST_MIXED || need.align > KMA_SL_LINE)
        return need;
    need.size_class = kma_sl_class_of(least);
    while (!kma_sl_is_aligned(need.size_class, need.align)) // a power of two is, among the next eight
        need.size_class++;
    return need;
}

// `bytes` of memory at an offset from the heap's start that is a multiple of `align`, contents undefined; NULL for 0 bytes,
// or with a record if there is no room, or `align` is not a power of two up to 4,096. Alignments below 16 are 16; above
// CL_DEVICE_MEM_BASE_ADDR_ALIGN only the offset is aligned, since the buffer itself may not be. Any work-item, converged or
// not; for all lanes that come together one atomic for where their blocks shall be, and one for each 16 KiB of them.
static inline global void *kma_slab_aligned_alloc(global kma_slab *heap, size_t align, size_t bytes)
{
    const kma_sl_heap sl = kma_sl_open(heap);
    const kma_sl_need need = kma_slab_need(&sl, align, bytes);
    const kma_lanes together = kma_lanes_alike(kma_lanes_active(), (ulong)heap);
    kma_ref block = KMA_NULL;
    if (kma_lane_in(together)) { // else it is of another heap than the leader's
        // A slab of few blocks is a waste while others have holes.
        if (kma_lanes_count(kma_lanes_ballot(together, need.size_class < KMA_SL_CLASSES)) < KMA_SL_MANY &&
            need.size_class < KMA_SL_CLASSES && need.align == 1 && kma_sl_has_holes_for(&sl, need.size_class))
            block = kma_sl_take_hole(heap, need.units);
        block = kma_sl_take_together(heap, together, need.align == 1 && block == KMA_NULL ? need.units : 0, block);
        block = kma_sl_take_shared(heap, together, block == KMA_NULL ? need.size_class : KMA_SL_CLASSES, block);
    }
    if (block == KMA_NULL && need.units != 0)
        block = kma_sl_take_alone(heap, need.units, need.align, need.size_class);
    if (block == KMA_NULL && bytes != 0)
        kma_report(&heap->header, need.error, KMA_NULL, need.error == KMA_ERROR_BAD_ALIGNMENT ? align : bytes);
    return kma_deref_in(heap, block);
}

// kma_slab_aligned_alloc to 16 bytes.
static inline global void *kma_slab_malloc(global kma_slab *heap, size_t bytes)
{
    return kma_slab_aligned_alloc(heap, KMA_UNIT, bytes);
}

// Ends a block's life; NULL is allowed. Any work-item of the same or a later kernel, converged or not. A pointer that
// is no block start, or whose block is free already, goes into the error log and nothing else happens. For lanes
// that come together: one atomic for those with blocks of one slab.
static inline void kma_slab_free(global kma_slab *heap, global void *ptr)
{
    if (!ptr)
        return;
    kma_slab_release(heap, ptr);
}

static inline kma_ref kma_slab_ref_of(global kma_slab *heap, global void *place)
{
    return kma_ref_in(heap, place);
}

static inline global void *kma_slab_deref(global kma_slab *heap, kma_ref ref)
{
    return kma_deref_in(heap, ref);
}

#endif
