// From a pointer to its slot: which line word has its bit, and how large the block is.
#ifndef KMA_HEAP_SLAB_SLOTS_CL
#define KMA_HEAP_SLAB_SLOTS_CL

#include "kma/heap/common/error_log.cl"
#include "kma/heap/slab/lines.cl"

// kma_report, not inlined.
static inline KMA_COLD void kma_slab_report(global kma_slab *heap, uint error, uint ref, ulong size)
{
    kma_report(&heap->header, error, ref, size);
}

// ------ mixed slabs ------------------------------------------------------------------------------

// The bit planes of a mixed slab.
typedef struct kma_slab_planes {
    uint plane[KMA_SLAB_PLANES];
    uint unit; // of the sizes, in units: 4 if coarse, else 1
} kma_slab_planes;

static inline KMA_COLD kma_slab_planes kma_slab_load_planes(global kma_slab *heap, uint line,
                                                            uint word)
{
    kma_slab_planes planes;
    planes.unit = (word & KMA_SLAB_COARSE) != 0 ? 4 : 1;
    const uint count = word >> 17 & 7;
    for (uint p = 0; p < KMA_SLAB_PLANES; p++)
        planes.plane[p] =
            p < count ? kma_load_u32(kma_slab_word(heap, line + 1 + p), KMA_RELAXED) : 0;
    return planes;
}

static inline uint kma_slab_mixed_units(const kma_slab_planes *planes, uint slot)
{
    uint less = 0;
    for (uint p = 0; p < KMA_SLAB_PLANES; p++)
        less |= (planes->plane[p] >> slot & 1) << p;
    return (less + 1) * planes->unit;
}

// Units from the slab's begin to a slot.
static inline uint kma_slab_mixed_offset(const kma_slab_planes *planes, uint slot)
{
    uint before = slot;
    for (uint p = 0; p < KMA_SLAB_PLANES; p++)
        before += (uint)popcount(planes->plane[p] & (uint)kma_bits_below(slot)) << p;
    return before * planes->unit;
}

// ------ from a pointer to its slot ---------------------------------------------------------------

// Where a block's bit is.
typedef struct kma_slab_spot {
    uint line;  // its word has the bit
    uint word;  // as loaded; of a page, the word of the pointer's line, which may be another one
    uint bit;   // the slot's occupancy bit, or KMA_SLAB_RUN
    uint units; // of the block
    uint error; // what a free of it would be; KMA_ERROR_CODES: correct
} kma_slab_spot;

// Finds the slot `offset` units after the start of a page or equal slab. False if no slot begins
// there.
static inline bool kma_slab_spot_equal(kma_slab_spot *spot, uint line, uint word, uint offset)
{
    const bool is_page = (word & KMA_SLAB_FORM) == KMA_SLAB_PAGE;
    const uint size_class = is_page ? kma_slab_page_class(word) : kma_slab_equal_class(word);
    const uint units = kma_slab_units(size_class);
    const uint slot = kma_slab_divide(offset, units);
    const uint shift = is_page ? kma_slab_page_shift(units) : 0;
    const uint most = is_page ? KMA_SLAB_FRAME_UNITS : units << kma_slab_equal_shift(word);
    spot->line = line + (slot & ((1u << shift) - 1));
    spot->bit = 1u << (slot >> shift);
    spot->units = units;
    return slot * units == offset && offset + units <= most;
}

// Returns the slot of a mixed slab that begins `offset` units after the slab's start, plus 32 times
// its units; slot KMA_SLAB_TEAM if none begins there.
static inline KMA_COLD uint kma_slab_mixed_slot(global kma_slab *heap, uint line, uint word,
                                                uint offset)
{
    const kma_slab_planes planes = kma_slab_load_planes(heap, line, word);
    uint slot = 0;
    for (uint at = 0; slot < KMA_SLAB_TEAM && at != offset; slot++)
        at += kma_slab_mixed_units(&planes, slot);
    return slot + kma_slab_mixed_units(&planes, slot) * 32;
}

// Finds the slot at `ptr`. The error is KMA_ERROR_INVALID_FREE if none begins there,
// KMA_ERROR_DOUBLE_FREE if its line is free. The slot itself may be free: the caller checks its
// bit. Relaxed: the caller owns the block, so its page or slab does not change.
static inline kma_slab_spot kma_slab_spot_of(global kma_slab *heap, const global void *ptr)
{
    kma_slab_spot spot;
    spot.line = 0;
    spot.word = 0;
    spot.bit = 0;
    spot.units = 0;
    spot.error = KMA_ERROR_INVALID_FREE;
    const ulong offset = (ulong)ptr - (ulong)heap; // huge for a pointer before the heap
    const ulong begin = (ulong)heap->plan.begin * KMA_UNIT;
    if (offset < begin || offset >= (ulong)heap->plan.limit * KMA_UNIT || offset % KMA_UNIT != 0)
        return spot;
    const uint unit = (uint)((offset - begin) / KMA_UNIT);
    uint line = unit >> KMA_SLAB_LINE_SHIFT;
    uint word = kma_load_u32(kma_slab_word(heap, line), KMA_RELAXED);
    if ((word & KMA_SLAB_FORM) == KMA_SLAB_PAGE) {
        line = line >> KMA_SLAB_FRAME_SHIFT << KMA_SLAB_FRAME_SHIFT;
    } else if ((word & KMA_SLAB_FORM) == KMA_SLAB_REST) {
        line -= word >> 20 & 255;
        word = kma_load_u32(kma_slab_word(heap, line), KMA_RELAXED);
        word = (word & KMA_SLAB_FORM) == KMA_SLAB_SLAB ? word : 0; // else a stale `rest`
    }
    spot.line = line;
    spot.word = word;
    const uint within = unit - (line << KMA_SLAB_LINE_SHIFT);
    bool is_start = false;
    if ((word & KMA_SLAB_FORM) == KMA_SLAB_PAGE ||
        (word & (KMA_SLAB_FORM | KMA_SLAB_MIXED)) == KMA_SLAB_SLAB) {
        is_start = kma_slab_spot_equal(&spot, line, word, within);
    } else if ((word & KMA_SLAB_FORM) == KMA_SLAB_SLAB) {
        const uint slot = kma_slab_mixed_slot(heap, line, word, within);
        spot.bit = 1u << slot % 32;
        spot.units = slot / 32;
        is_start = slot % 32 < KMA_SLAB_TEAM;
    } else if ((word & KMA_SLAB_RUN) != 0) {
        spot.bit = KMA_SLAB_RUN;
        spot.units = (word & KMA_SLAB_RUN_LINES) << KMA_SLAB_LINE_SHIFT;
        is_start = within == 0;
    }
    if (is_start) {
        spot.error = KMA_ERROR_CODES;
    } else {
        const uint used =
            kma_load_u32(kma_slab_used(heap, line >> KMA_SLAB_FRAME_SHIFT), KMA_RELAXED);
        if ((used >> line % KMA_SLAB_FRAME_LINES & 1) == 0)
            spot.error = KMA_ERROR_DOUBLE_FREE;
    }
    return spot;
}

#endif
