// What a slab is: how it is found from one of its blocks, and where its slots are.
//
// All that is said here stands still while a slab lives, and whoever has one of its blocks may look. Others: slab_holes.cl,
// and for the first line's word, the owners, slab_heads.cl.
#ifndef KMA_HEAP_SLAB_FORM_CL
#define KMA_HEAP_SLAB_FORM_CL

#include "kma/platform/bits.cl"
#include "kma/platform/lanes.cl"
#include "kma/platform/memory.cl"
#include "kma/heap/slab_lines.cl"

static inline global kma_atomic_u32 *kma_sl_word(const kma_sl_heap *sl, uint line)
{
    return kma_sl_at(sl->heap, sl->plan.words) + line;
}

static inline global kma_atomic_u32 *kma_sl_marks(const kma_sl_heap *sl, uint line)
{
    return kma_sl_at(sl->heap, sl->plan.marks) + line / KMA_SL_MARKS;
}

static inline uint kma_sl_mark_shift(uint line)
{
    return line % KMA_SL_MARKS * 4;
}

static inline uint kma_sl_mark(const kma_sl_heap *sl, uint line)
{
    return kma_load_u32(kma_sl_marks(sl, line), KMA_RELAXED) >> kma_sl_mark_shift(line) & 15u;
}

// The form of the slab that begins at a line, whose mark is `mark`.
static inline kma_sl_form kma_sl_form_of(const kma_sl_heap *sl, uint first, uint mark)
{
    const bool has_header = (mark & KMA_SL_MARK_FORM) == KMA_SL_MARK_HEADER;
    const uint header = has_header ? kma_load_u32(kma_sl_word(sl, first + 1), KMA_RELAXED) : 0;
    kma_sl_form form = kma_sl_form_with(mark, header);
    if (form.units == 0) {
        global kma_atomic_u32 *const words = kma_sl_word(sl, first + (has_header ? 2 : 1));
        KMA_ROLLED
        for (uint p = 0; p < form.count; p++)
            form.planes[p] = kma_load_u32(&words[p], KMA_RELAXED) & ~KMA_SL_DATA;
        form = kma_sl_form_whole(form);
    }
    return form;
}

// The first line of the slab that a line belongs to, if it belongs to one: where the last slab begins that begins there or
// before. KMA_SL_NONE if none is seen from there.
static inline uint kma_sl_first_of(const kma_sl_heap *sl, uint line, uint *mark)
{
    const uint group = line / KMA_SL_MARKS * KMA_SL_MARKS;
    const uint here = kma_load_u32(kma_sl_marks(sl, line), KMA_RELAXED);
    const uint before = group != 0 ? kma_load_u32(kma_sl_marks(sl, group - 1), KMA_RELAXED) : 0;
    const uint back = kma_load_u32(kma_sl_word(sl, group), KMA_RELAXED);
    const uint begins = (here | here >> 1) & 0x11111111u & (uint)kma_bits_below(kma_sl_mark_shift(line) + 1);
    const uint begins_before = (before | before >> 1) & 0x11111111u;
    if (begins != 0) {
        const uint bit = kma_highest_bit(begins);
        *mark = here >> bit & 15u;
        return group + bit / 4;
    }
    if (begins_before != 0) {
        const uint bit = kma_highest_bit(begins_before);
        *mark = before >> bit & 15u;
        return group - KMA_SL_MARKS + bit / 4;
    }
    const uint distance = back & KMA_SL_VALUE;
    if ((back & KMA_SL_DATA) == 0 || distance > group)
        return KMA_SL_NONE;
    *mark = kma_sl_mark(sl, group - distance);
    return (*mark & KMA_SL_MARK_FORM) != 0 ? group - distance : KMA_SL_NONE;
}

// ------ where data stand in a slab that is being made ---------------------------------------------------------------

// Writes them, work-item `me` of `many` its share.
static inline void kma_sl_put_backs(const kma_sl_heap *sl, uint first, uint lines, uint me, uint many)
{
    KMA_ROLLED
    for (uint line = kma_sl_first_back(first) + KMA_SL_MARKS * me; line < first + lines; line += KMA_SL_MARKS * many)
        kma_store_u32(kma_sl_word(sl, line), KMA_SL_DATA | (line - first), KMA_RELAXED);
}

static inline void kma_sl_put_mark(const kma_sl_heap *sl, uint first, uint mark)
{
    kma_fetch_or_u32(kma_sl_marks(sl, first), mark << kma_sl_mark_shift(first), KMA_RELAXED);
}

// A slab of lines of the caller's own that has free slots is HOLEY from the start. Who looks for holes acquires the mark; so all
// that tells of the slab is written before it, by a release; and until `taken` is, its owners are 0, where data of the line's
// slab before might be taken for owners. Those come behind the mark, by a release, too: slab_heads.cl.
static inline void kma_sl_put_holey(const kma_sl_heap *sl, uint first, uint mark, uint taken)
{
    kma_store_u32(kma_sl_word(sl, first), 0, KMA_RELAXED);
    kma_fetch_or_u32(kma_sl_marks(sl, first), (mark | KMA_SL_MARK_HOLEY) << kma_sl_mark_shift(first), KMA_RELEASE);
    kma_store_u32(kma_sl_word(sl, first), taken, KMA_RELEASE);
}

// Makes a slab of equal slots, `taken` of which are taken; not for slots of one unit.
static inline void kma_sl_make_equal(const kma_sl_heap *sl, uint first, uint lines, uint header, uint taken)
{
    kma_store_u32(kma_sl_word(sl, first + 1), header, KMA_RELAXED);
    kma_sl_put_backs(sl, first, lines, 0, 1);
    kma_sl_put_holey(sl, first, KMA_SL_MARK_HEADER, taken);
}

#endif
