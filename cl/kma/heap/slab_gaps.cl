// How lanes alone find free lines of a slab heap: in a gap of one chunk, the 32 lines of a word, each place from the chunk on where it
// looked last. For runs, and when nothing else is left, a walk goes through the whole heap. (Lanes together: slab_windows.cl.)
#ifndef KMA_HEAP_SLAB_GAPS_CL
#define KMA_HEAP_SLAB_GAPS_CL

#include "kma/platform/bits.cl"
#include "kma/heap/slab_cursors.cl"

// Chunks that are looked at for a gap, before the search goes through the heap.
#ifndef KMA_SL_LOOKS
#define KMA_SL_LOOKS 24u
#endif

#define KMA_SL_FAR    1024u // chunks that one look passes over, as they have no room
#define KMA_SL_PASSES 4u    // through the heap, if others are quicker

// Who may go through the whole heap at the same time: the others get nothing, so that many who find no room are told so
// soon. More than one, so that somebody who is stopped in there for ever does not take it from all.
#ifndef KMA_SL_SEEKERS
#define KMA_SL_SEEKERS 512u
#endif

// The first bit of `count` clear ones side by side in a word, 1 … 32; KMA_SL_NONE if there are none.
static inline uint kma_sl_gap(uint word, uint count)
{
    uint starts = ~word; // bits from which on `reach` are clear
    for (uint reach = 1; reach < count && starts != 0;) { // five steps
        const uint step = min(reach, count - reach);
        starts &= starts >> step;
        reach += step;
    }
    return starts != 0 ? kma_sl_first_bit(starts) : KMA_SL_NONE;
}

// The first of `count` lines side by side, 1 … 32, that the caller takes in a chunk; KMA_SL_NONE if there are none.
static inline uint kma_sl_take_gap(const kma_sl_heap *sl, uint chunk, uint count)
{
    uint word = kma_load_u32(kma_sl_used(sl, chunk), KMA_RELAXED);
    if (word == 0xffffffffu)
        kma_sl_clear_room(sl, chunk);
    for (;;) { // once more only if others changed the word
        const uint bit = kma_sl_gap(word, count);
        if (bit == KMA_SL_NONE)
            return KMA_SL_NONE;
        const uint mask = 0xffffffffu >> (KMA_SL_LINE - count) << bit;
        const uint seen = kma_cas_u32(kma_sl_used(sl, chunk), word, word | mask, KMA_ACQUIRE);
        if (seen == word)
            return (chunk << KMA_SL_LINE_SHIFT) + bit;
        word = seen;
    }
}

// Where the calling place looked last.
static inline global kma_atomic_u32 *kma_sl_looked(const kma_sl_heap *sl)
{
    return &sl->heap->looked[(kma_place() & (min(sl->plan.places, KMA_SL_LOOKERS) - 1)) * KMA_SL_LOOKED_STRIDE];
}

// The first of `count` lines side by side in one chunk, 1 … 32, that the caller takes: near where the place looked last, then anywhere in
// chunks that are partly used, and at last in any. So what lives long does not part the memory that is wholly free. KMA_SL_NONE if
// so many looks, KMA_SL_LOOKS at most, find none.
static inline KMA_COLD uint kma_sl_look(global kma_slab *heap, uint count, uint looks)
{
    const kma_sl_heap sl = kma_sl_open(heap);
    const uint start = kma_load_u32(kma_sl_looked(&sl), KMA_RELAXED) % sl.plan.chunks;
    uint from = start;
    uint first = KMA_SL_NONE;
    if (kma_sl_is_scarce(heap, count))
        return first;
    for (uint look = 0; look < looks && first == KMA_SL_NONE; look++) {
        const bool is_near = look < KMA_SL_LOOKS / 2;
        if (!is_near)
            from = kma_mix32(kma_spread() + look * 0x9e3779b9u) % sl.plan.chunks;
        const uint end = min(from + KMA_SL_FAR, sl.plan.chunks);
        const uint chunk = kma_sl_next_room(&sl, from, end);
        const bool is_last = look >= KMA_SL_LOOKS - KMA_SL_LOOKS / 6;
        if (chunk != end && (is_near || is_last || kma_load_u32(kma_sl_used(&sl, chunk), KMA_RELAXED) != 0))
            first = kma_sl_take_gap(&sl, chunk, count);
        from = chunk + (first == KMA_SL_NONE && chunk != end ? 1 : 0); // there may be more
        from = from < sl.plan.chunks ? from : 0;
        if ((is_near || is_last) && (from != start || !is_near))
            kma_store_u32(kma_sl_looked(&sl), from, KMA_RELAXED);
    }
    return first;
}

// ------ the whole heap ----------------------------------------------------------------------------------------------

static inline uint kma_sl_aligned(uint line, uint align)
{
    return (line + align - 1) & ~(align - 1);
}

// `count` lines side by side from a multiple of `align` on, the first that are free in the chunks from `from` on, in front of
// `to`. KMA_SL_NONE if there are none, KMA_SL_LOST if others were quicker somewhere.
static inline KMA_COLD uint kma_sl_walk(global kma_slab *heap, uint from, uint to, uint count, uint align)
{
    const kma_sl_heap sl = kma_sl_open(heap);
    uint found = KMA_SL_NONE;
    uint first = from << KMA_SL_LINE_SHIFT; // free lines begin there, up to `at`
    uint at = first;
    while (at < to << KMA_SL_LINE_SHIFT) { // on to the end of a chunk, or of equal bits
        const uint chunk = at >> KMA_SL_LINE_SHIFT;
        if (at % KMA_SL_LINE == 0 && at == first) { // past chunks without a free line
            const uint next = kma_sl_next_room(&sl, chunk, to);
            if (next != chunk) {
                first = at = kma_sl_aligned(next * KMA_SL_LINE, align);
                continue;
            }
        }
        const uint word = kma_load_u32(kma_sl_used(&sl, chunk), KMA_RELAXED);
        const uint ahead = word >> (at % KMA_SL_LINE);
        const uint end = (chunk + 1) << KMA_SL_LINE_SHIFT;
        if ((ahead & 1u) != 0) {
            const uint behind = min(ahead != 0xffffffffu ? at + kma_sl_first_bit(~ahead) : end, end);
            first = at = kma_sl_aligned(behind, align);
            if (word == 0xffffffffu)
                kma_sl_clear_room(&sl, chunk);
            continue;
        }
        at = ahead != 0 ? at + kma_sl_first_bit(ahead) : end;
        if (at < first + count)
            continue;
        if (kma_sl_take_lines(heap, first, count))
            return first;
        found = KMA_SL_LOST;
        first = at = kma_sl_aligned(first + 1, align);
    }
    return found;
}

// `count` lines from a multiple of `count` on, which no other who wants as many is told of before all have gone round the heap: so
// runs of a size that are taken at the same time leave nothing between them. KMA_SL_NONE if some of the lines are taken.
static inline KMA_COLD uint kma_sl_next_run(global kma_slab *heap, uint count)
{
    const uint lines = heap->plan.chunks << KMA_SL_LINE_SHIFT;
    if (count > lines)
        return KMA_SL_NONE;
    uint first = kma_fetch_add_u32(&heap->next_run, count, KMA_RELAXED) % lines;
    first -= first % count;
    return first <= lines - count && kma_sl_take_lines(heap, first, count) ? first : KMA_SL_NONE;
}

// Who looked for lines tells whether he found some in all of the heap.
static inline void kma_sl_tell_scarce(global kma_slab *heap, bool found, uint count, uint align)
{
    if (found)
        kma_sl_set_scarce(heap, 0);
    else if (align == 1 && !kma_sl_is_scarce(heap, count))
        kma_sl_set_scarce(heap, count);
}

// `count` lines side by side, whose first one's number `align` divides, by a walk through the heap; KMA_SL_NONE at out of
// memory. A lone caller finds lines if there are any.
static inline KMA_COLD uint kma_sl_seek(global kma_slab *heap, uint count, uint align)
{
    const uint chunks = heap->plan.chunks;
    if (count > chunks << KMA_SL_LINE_SHIFT)
        return KMA_SL_NONE;
    const uint next = kma_load_u32(&heap->next_run, KMA_RELAXED);
    const uint start = (next >> KMA_SL_LINE_SHIFT) % chunks;
    const uint rest = min(chunks, start + (count >> KMA_SL_LINE_SHIFT) + 2); // those that reach over the start, too
    uint found = KMA_SL_LOST;
    for (uint passes = KMA_SL_PASSES; passes != 0 && found == KMA_SL_LOST; passes--) {
        found = kma_sl_walk(heap, start, chunks, count, align);
        const uint behind = found < KMA_SL_LOST ? found : kma_sl_walk(heap, 0, rest, count, align);
        found = found == KMA_SL_LOST && behind == KMA_SL_NONE ? found : behind;
    }
    if (found < KMA_SL_LOST)
        kma_cas_u32(&heap->next_run, next, found + count, KMA_RELAXED); // unless others moved it
    kma_sl_tell_scarce(heap, found < KMA_SL_LOST, count, align);
    return found < KMA_SL_LOST ? found : KMA_SL_NONE;
}

#endif
