// Where in a slab heap lanes together claim lines: each place adds the lines that it wants to its cursor, and what that counted
// before is a number of lines in the heap, wherever others are. So on a heap that is free there, nobody meets anybody. There
// are three bands of cursors, for few lines, for many, and for slabs that lanes alone share, which begin far from one another:
//
//   cursor c of n, k lines drawn before:  share k / size * n + c of its band, line k % size of it
#ifndef KMA_HEAP_SLAB_CURSORS_CL
#define KMA_HEAP_SLAB_CURSORS_CL

#include "kma/platform/place.cl"
#include "kma/heap/slab_lines.cl"

// How often lanes together ask their cursor, before they look for gaps: so often if it leads to lines of others, so often at
// most if it also comes to the ends of shares; and how often they try to get a slab in gaps.
#ifndef KMA_SL_DRAWS
#define KMA_SL_DRAWS 4u
#endif
#ifndef KMA_SL_REDRAWS
#define KMA_SL_REDRAWS 12u
#endif
#ifndef KMA_SL_TRIES
#define KMA_SL_TRIES 64u
#endif
#define KMA_SL_CROWD 65536u // lines that those may have drawn who were led to the same place

// Of the calling place: the rest of a division by the cursors, which as a product is right for numbers up to 2047 and up to 32
// cursors.
static inline uint kma_sl_cursor_of(const kma_sl_heap *sl)
{
    const uint place = kma_place() & 2047u;
    return place - (place * sl->plan.inverse >> 16) * sl->plan.cursors;
}

static inline global kma_atomic_u32 *kma_sl_cursor(global kma_slab *heap, uint band, uint cursor)
{
    return &heap->cursors[(band * KMA_SL_CURSORS + cursor) * KMA_SL_CURSOR_STRIDE];
}

// The band for lanes together that want so many lines.
static inline uint kma_sl_band_for(uint count)
{
    return count <= KMA_SL_FEW ? KMA_SL_BAND_FEW : KMA_SL_BAND_MANY;
}

static inline uint kma_sl_share_shift(uint band)
{
    return band == KMA_SL_BAND_MANY ? KMA_SL_MANY_SHIFT : KMA_SL_FEW_SHIFT;
}

static inline uint kma_sl_band_rounds(const kma_sl_heap *sl, uint band)
{
    return band == KMA_SL_BAND_MANY ? sl->plan.many_rounds : sl->plan.few_rounds;
}

// The first share of a band, of so many: that of many lines begins in the middle, that of heads behind three quarters.
static inline uint kma_sl_band_begin(uint band, uint shares)
{
    return band == KMA_SL_BAND_FEW ? 0 : band == KMA_SL_BAND_MANY ? shares / 2 : shares - shares / 4;
}

// The line that a cursor means when it has counted so many.
static inline uint kma_sl_counted_line(const kma_sl_heap *sl, uint band, uint cursor, uint count)
{
    const uint shift = kma_sl_share_shift(band);
    const uint rounds = kma_sl_band_rounds(sl, band);
    const uint shares = rounds * sl->plan.cursors;
    uint turn = count >> shift;
    if (turn >= rounds)
        turn %= rounds;
    uint share = turn * sl->plan.cursors + cursor + kma_sl_band_begin(band, shares);
    share -= share >= shares ? shares : 0;
    return (share << shift) + (count & ((1u << shift) - 1));
}

// The other way round: what a cursor has counted that comes to a line, or if that is another's, to the next one of its own.
static inline uint kma_sl_count_to_line(const kma_sl_heap *sl, uint band, uint cursor, uint line)
{
    const uint shift = kma_sl_share_shift(band);
    const uint shares = kma_sl_band_rounds(sl, band) * sl->plan.cursors;
    const uint first = kma_sl_band_begin(band, shares);
    const uint share = min(line >> shift, shares - 1);
    const uint number = share >= first ? share - first : share + shares - first;
    const uint whose = number % sl->plan.cursors;
    return (number / sl->plan.cursors + (whose > cursor ? 1 : 0)) << shift |
           (whose == cursor ? line & ((1u << shift) - 1) : 0);
}

// The first of `count` lines that nobody else draws before the cursor has gone round; KMA_SL_NONE if they would not be
// side by side, which is so only at the end of a share, or if a share is too short. They may be taken.
static inline uint kma_sl_draw(const kma_sl_heap *sl, uint band, uint count)
{
    const uint share = 1u << kma_sl_share_shift(band);
    if (kma_sl_band_rounds(sl, band) == 0 || count > share)
        return KMA_SL_NONE;
    const uint cursor = kma_sl_cursor_of(sl);
    const uint drawn = kma_fetch_add_u32(kma_sl_cursor(sl->heap, band, cursor), count, KMA_RELAXED);
    return (drawn & (share - 1)) + count > share ? KMA_SL_NONE : kma_sl_counted_line(sl, band, cursor, drawn);
}

static inline KMA_COLD uint kma_sl_draw_called(global kma_slab *heap, uint count)
{
    const kma_sl_heap sl = kma_sl_open(heap);
    return kma_sl_draw(&sl, kma_sl_band_for(count), count);
}

// What one of those who take a run of lines together, each every so many chunks, got: all of his chunks, or those in front of
// `chunk`, and of that `mask`.
typedef struct kma_sl_part {
    uint chunk; // KMA_SL_NONE: he did not fail
    uint mask;
} kma_sl_part;

// Takes those of the lines [first, first + lines) that are in a chunk, if any are.
static inline kma_sl_part kma_sl_take_chunk(const kma_sl_heap *sl, uint first, uint lines, uint chunk)
{
    kma_sl_part part;
    part.chunk = KMA_SL_NONE;
    part.mask = 0;
    if (chunk > (first + lines - 1) >> KMA_SL_LINE_SHIFT)
        return part;
    const uint mask = kma_sl_mask(first, lines, chunk);
    const uint taken = kma_sl_set_in(sl, chunk, mask);
    if (taken != 0) {
        part.chunk = chunk;
        part.mask = mask & ~taken;
    }
    return part;
}

// Takes a share of the lines [first, first + lines): the caller is number `me` of `many` who do so.
static inline kma_sl_part kma_sl_take_part(const kma_sl_heap *sl, uint first, uint lines, uint me, uint many)
{
    uint chunk = (first >> KMA_SL_LINE_SHIFT) + me;
    const uint end = ((first + lines - 1) >> KMA_SL_LINE_SHIFT) + 1;
    kma_sl_part part = kma_sl_take_chunk(sl, first, lines, chunk);
    for (chunk += many; chunk < end && part.chunk == KMA_SL_NONE; chunk += many)
        part = kma_sl_take_chunk(sl, first, lines, chunk);
    return part;
}

// Gives back what the caller got of lines of which he, or another who takes them with him, did not get all.
static inline void kma_sl_give_part(const kma_sl_heap *sl, uint first, uint lines, uint me, uint many, kma_sl_part part)
{
    const uint last = min((first + lines - 1) >> KMA_SL_LINE_SHIFT, part.chunk);
    kma_fence(KMA_RELEASE); // each claim acquired: their next owner comes after the one before
    for (uint chunk = (first >> KMA_SL_LINE_SHIFT) + me; chunk <= last; chunk += many) {
        const uint mask = chunk < part.chunk ? kma_sl_mask(first, lines, chunk) : part.mask;
        if (mask != 0)
            kma_sl_give_in(sl, chunk, mask);
    }
}

// How many of seven chunks from one on, each twice as far as the one before, up to 1 MiB, are wholly free before one is not.
static inline uint kma_sl_free_ahead(const kma_sl_heap *sl, uint chunk)
{
    uint used = 0; // one bit for each
    for (uint i = 0; i < 7; i++) { // unrolled: no load waits for another
        const uint at = min(chunk + (1u << i) - 1, sl->plan.chunks - 1);
        used |= (kma_load_u32(kma_sl_used(sl, at), KMA_RELAXED) != 0 ? 1u : 0u) << i;
    }
    return kma_sl_first_bit(used | 1u << 7);
}

// A chunk that is wholly free, as are if possible those behind it: each look is twice as far from `chunk` as the one before,
// to either side, so that few lead past whatever is in use. KMA_SL_NONE if none of them finds one.
static inline KMA_COLD uint kma_sl_probe(global kma_slab *heap, uint chunk)
{
    const kma_sl_heap sl = kma_sl_open(heap);
    uint found = KMA_SL_NONE;
    uint best = 0;
    for (uint step = 8; step < sl.plan.chunks && best < 7; step *= 2)
        for (uint side = 0; side < 2; side++) {
            uint at = side == 0 ? chunk + step : chunk + sl.plan.chunks - step;
            at -= at >= sl.plan.chunks ? sl.plan.chunks : 0;
            const uint count = kma_sl_free_ahead(&sl, at);
            found = count > best ? at : found;
            best = max(best, count);
        }
    return found;
}

// The cursor led the caller to a line of others. Unless another has moved it already, it goes back to where it began to meet
// nobody, if that place is free again, or on to a chunk that is wholly free.
static inline KMA_COLD void kma_sl_move_cursor(global kma_slab *heap, uint band, uint line)
{
    const kma_sl_heap sl = kma_sl_open(heap);
    const uint cursor = kma_sl_cursor_of(&sl);
    global kma_atomic_u32 *const word = kma_sl_cursor(heap, band, cursor);
    const uint seen = kma_load_u32(word, KMA_RELAXED);
    const uint distance = kma_sl_counted_line(&sl, band, cursor, seen) - line;
    if (distance > KMA_SL_CROWD * sl.plan.cursors)
        return;
    uint to = kma_load_u32(word + 1, KMA_RELAXED);
    const uint begin = kma_sl_counted_line(&sl, band, cursor, to) >> KMA_SL_LINE_SHIFT;
    if (begin == line >> KMA_SL_LINE_SHIFT || kma_load_u32(kma_sl_used(&sl, begin), KMA_RELAXED) != 0) {
        const uint whole = kma_sl_probe(heap, line >> KMA_SL_LINE_SHIFT);
        if (whole == KMA_SL_NONE)
            return;
        to = kma_sl_count_to_line(&sl, band, cursor, whole << KMA_SL_LINE_SHIFT);
        kma_store_u32(word + 1, to, KMA_RELAXED);
    }
    kma_cas_u32(word, seen, to, KMA_RELAXED);
}

#endif
