// Free by lanes each for itself.
#ifndef KMA_HEAP_SLAB_RELEASE_CL
#define KMA_HEAP_SLAB_RELEASE_CL

#include "kma/heap/slab/large.cl"
#include "kma/heap/slab/pages.cl"

// Clears the bit of a page's slot. False if the slot was free. Orders as in
// kma_slab_release_slot_of.
static inline bool kma_slab_release_page_slot(global kma_slab *heap, uint line, uint bit)
{
    const uint before = kma_fetch_and_u32(kma_slab_word(heap, line), ~bit, KMA_ACQ_REL);
    if ((before & bit) == 0)
        return false;
    const uint size_class = kma_slab_page_class(before);
    const uint slots = kma_slab_page_slots(before), frame = line >> KMA_SLAB_FRAME_SHIFT;
    if ((before & slots) == slots && !kma_bit_tree_has(kma_slab_tree(heap, size_class), frame))
        kma_slab_put(heap, size_class, frame);
    if ((before & slots) == bit && (before & KMA_SLAB_LISTED) == 0)
        kma_slab_page_may_be_empty(heap, line, before & ~bit);
    return true;
}

// Frees the block at `ptr`, which has no page; a record if there is none.
static inline KMA_COLD void kma_slab_release_rest(global kma_slab *heap, global void *ptr)
{
    const kma_slab_spot spot = kma_slab_spot_of(heap, ptr);
    uint error = spot.error;
    if (error == KMA_ERROR_CODES) {
        bool is_freed;
        if ((spot.word & KMA_SLAB_FORM) == KMA_SLAB_PAGE)
            is_freed = false; // the slot was free when the caller looked
        else if (spot.bit != KMA_SLAB_RUN)
            is_freed = kma_slab_release_slot_of(heap, spot.line, spot.bit, spot.units);
        else
            is_freed = kma_slab_release_run(heap, spot.line);
        error = is_freed ? KMA_ERROR_CODES : KMA_ERROR_DOUBLE_FREE;
    }
    if (error != KMA_ERROR_CODES)
        kma_slab_report(heap, error, kma_wrong_ref(&heap->header, ptr), 0);
}

// Frees the block at `ptr`; a record if there is none. What is in a page comes first.
static inline void kma_slab_release_alone(global kma_slab *heap, global void *ptr)
{
    // Huge for a pointer in front of frame 0.
    const ulong offset = (ulong)ptr - (ulong)heap - (ulong)heap->plan.begin * KMA_UNIT;
    if (offset % KMA_UNIT == 0 &&
        offset / KMA_UNIT < (ulong)heap->plan.frames * KMA_SLAB_FRAME_UNITS) {
        const uint unit = (uint)(offset / KMA_UNIT), within = unit % KMA_SLAB_FRAME_UNITS;
        const uint line = unit >> KMA_SLAB_LINE_SHIFT;
        const uint word = kma_load_u32(kma_slab_word(heap, line), KMA_RELAXED);
        kma_slab_spot spot;
        if ((word & KMA_SLAB_FORM) == KMA_SLAB_PAGE &&
            kma_slab_spot_equal(&spot, (unit - within) >> KMA_SLAB_LINE_SHIFT, word, within) &&
            kma_slab_release_page_slot(heap, spot.line, spot.bit))
            return;
    }
    kma_slab_release_rest(heap, ptr);
}

#endif
