// Where in a slab heap lanes together claim lines: each place adds the lines that it wants to its cursor, and what that counted
// before is a number of lines in the heap, wherever others are. So on a heap that is free there, nobody meets anybody. There
// are three bands of cursors, for few lines, for many, and for slabs that lanes alone share, which begin far from one another:
//
//   cursor c of n, k lines drawn before:  share k / size * n + c of its band, line k % size of it
#ifndef KMA_HEAP_SLAB_CURSORS_CL
#define KMA_HEAP_SLAB_CURSORS_CL

#include "kma/platform/place.cl"
#include "kma/heap/slab_lines.cl"

// How often lanes together ask their cursor: so often if it leads to lines of others, so often at most if it also comes to the ends
// of shares.
#ifndef KMA_SL_DRAWS
#define KMA_SL_DRAWS 2u
#endif
#ifndef KMA_SL_REDRAWS
#define KMA_SL_REDRAWS 12u
#endif
#define KMA_SL_SHARES_AHEAD 8u // of a cursor's own, of which it moves to one

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
    const uint begin = (first >> KMA_SL_LINE_SHIFT) + me;
    const uint last = min((first + lines - 1) >> KMA_SL_LINE_SHIFT, part.chunk);
    if (begin > last || (begin == part.chunk && part.mask == 0))
        return; // nothing: a fence is not for free
    kma_fence(KMA_RELEASE); // each claim acquired: their next owner comes after the one before
    for (uint chunk = begin; chunk <= last; chunk += many) {
        const uint mask = chunk < part.chunk ? kma_sl_mask(first, lines, chunk) : part.mask;
        if (mask != 0)
            kma_sl_give_in(sl, chunk, mask);
    }
}

// ------ where a cursor goes that led to lines of others --------------------------------------------------------------

// A cursor as the caller saw it.
typedef struct kma_sl_course {
    global kma_atomic_u32 *counter;
    uint cursor; // its number
    uint seen;   // what it had counted
    uint home;   // what it had counted when it was moved to where it is: there it met nobody
} kma_sl_course;

// The caller's.
static inline kma_sl_course kma_sl_course_of(const kma_sl_heap *sl, uint band)
{
    kma_sl_course course;
    course.cursor = kma_sl_cursor_of(sl);
    course.counter = kma_sl_cursor(sl->heap, band, course.cursor);
    course.seen = kma_load_u32(course.counter, KMA_RELAXED);
    course.home = kma_load_u32(course.counter + 1, KMA_RELAXED);
    return course;
}

// Whether somebody has moved the cursor since it led to `line`: then that is not what it counted on its way from home. Of the crowd
// that it leads to lines of others, one moves it.
static inline bool kma_sl_has_moved(const kma_sl_heap *sl, const kma_sl_course *course, uint band, uint line)
{
    const uint round = kma_sl_band_rounds(sl, band) << kma_sl_share_shift(band); // lines; who drew has a round
    const uint drawn = kma_sl_count_to_line(sl, band, course->cursor, line) + round - course->home % round;
    return (drawn < round ? drawn : drawn - round) >= course->seen - course->home;
}

// What the cursor counts at the share of its own that is so many ahead, 0 being the one behind where it is.
static inline uint kma_sl_share_ahead(const kma_sl_course *course, uint band, uint ahead)
{
    return ((course->seen >> kma_sl_share_shift(band)) + 1 + ahead) << kma_sl_share_shift(band);
}

// Chunks of a share of 2^shift lines; 1 if it is a part of one.
static inline uint kma_sl_share_chunks(uint shift)
{
    return (((1u << shift) - 1) >> KMA_SL_LINE_SHIFT) + 1;
}

// How many of four chunks, from the first to the last of so many, are wholly free before one is not.
static inline uint kma_sl_free_ahead(const kma_sl_heap *sl, uint chunk, uint chunks)
{
    uint used = 0; // one bit for each
    for (uint i = 0; i < 4; i++) // unrolled: no load waits for another
        used |= (kma_load_u32(kma_sl_used(sl, chunk + (chunks - 1) * i / 3), KMA_RELAXED) != 0 ? 1u : 0u) << i;
    return kma_sl_first_bit(used | 1u << 4);
}

// The same of the share that is so many ahead.
static inline uint kma_sl_free_in_share(const kma_sl_heap *sl, const kma_sl_course *course, uint band, uint ahead)
{
    const uint line = kma_sl_counted_line(sl, band, course->cursor, kma_sl_share_ahead(course, band, ahead));
    return kma_sl_free_ahead(sl, line >> KMA_SL_LINE_SHIFT, kma_sl_share_chunks(kma_sl_share_shift(band)));
}

// Whether the cursor may go home: what is there is free again, and not that of `line`.
static inline bool kma_sl_is_home_free(const kma_sl_heap *sl, const kma_sl_course *course, uint band, uint line)
{
    const uint chunk = kma_sl_counted_line(sl, band, course->cursor, course->home) >> KMA_SL_LINE_SHIFT;
    return chunk != line >> KMA_SL_LINE_SHIFT && kma_load_u32(kma_sl_used(sl, chunk), KMA_RELAXED) == 0;
}

// Moves the cursor, unless another did, or drew meanwhile: then one of those who meet others next does. Home is written first, so
// that who draws from there on finds it.
static inline void kma_sl_set_course(const kma_sl_course *course, uint to)
{
    if (to != course->home)
        kma_store_u32(course->counter + 1, to, KMA_RELAXED);
    kma_cas_u32(course->counter, course->seen, to, KMA_RELAXED);
}

// The cursor led one who comes alone to a line of others: it goes home, or to a share that is free, or if there is none near to one that
// begins so. (Lanes together: kma_sl_lose.)
static inline KMA_COLD void kma_sl_move_cursor(global kma_slab *heap, uint band, uint line)
{
    const kma_sl_heap sl = kma_sl_open(heap);
    const kma_sl_course course = kma_sl_course_of(&sl, band);
    if (kma_sl_has_moved(&sl, &course, band, line))
        return;
    uint best = kma_sl_is_home_free(&sl, &course, band, line) ? 4 : 0;
    uint to = course.home;
    for (uint ahead = 0; ahead < KMA_SL_SHARES_AHEAD && best < 4; ahead++) {
        const uint count = kma_sl_free_in_share(&sl, &course, band, ahead);
        to = count > best ? kma_sl_share_ahead(&course, band, ahead) : to;
        best = max(best, count);
    }
    if (best != 0)
        kma_sl_set_course(&course, to);
}

#endif
