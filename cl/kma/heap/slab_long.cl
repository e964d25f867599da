// Where in a slab heap long runs go: to the first place that is long enough, so that what is free stays together; if others are
// quicker there time and again, side by side behind all others.
//
//   | runs, and gaps between them: the first one  | next_long: lines that nobody else is told of, | runs that a draw meets: |
//   | that is long enough                         | each draws as many as he wants                | the first place behind  |
//   |                                             |                                               | them, next_long follows |
//
// What it takes: looks, each of which waits once for 8 loads. `rooms` has no bit for what a long run covers as a whole
// (kma_sl_claim hides that), so a look passes over 256 chunks, 4 MiB, of runs, and of gaps that are too short. Of a place that is
// long enough by its rooms a second look sees the words of the first 8 chunks; for the rest it is claimed in good hope, 8 chunks
// at a time. If some of them are taken the claim says so, and the search goes on there.
//
// Many who come at the same time find the same first place. It is got by who has its first chunk; the others lose after two steps,
// and by then, or a step later, all that he wants is hidden: they go on behind it. Who has lost so often that this takes longer
// than anything else draws.
//
// All that is said so far may miss a place: rooms are hints, of a run that is being given back or that somebody who was stopped
// has hidden, hope gives up where a chunk was taken, and next_long leads anywhere. So who found nothing goes through all of the
// heap once more, and now looks at the words of each chunk that may have a free line. Rooms do not hide one from a lone caller:
// who hides a chunk has it, or shows it again before he returns (kma_sl_unclaim), and who gives it back shows it. Of free lines
// side by side, so many, (count - 31) / 32 chunks at least are wholly free, wherever they begin; that walk takes all chunks side
// by side that are free, so many or more, and counts what is free of the chunk in front of them and of the one behind. So it finds
// the lines, or others have taken some of them since.
//
// Somebody stopped in here for ever costs his run's lines, and hides at most those: others in that run's place, which he has not
// got, are found by cursors, and by searches once their chunks were full. `seekers` counts him.
#ifndef KMA_HEAP_SLAB_LONG_CL
#define KMA_HEAP_SLAB_LONG_CL

#include "kma/platform/bits.cl"
#include "kma/heap/slab_gaps.cl"

// How far a look sees: more loads at a time are more registers, too.
#ifndef KMA_SL_SIGHT
#define KMA_SL_SIGHT     8u // chunks' words, a power of two up to 32
#define KMA_SL_FAR_SIGHT 8u // words of rooms
#endif

#define KMA_SL_ROUNDS 8u  // of draws, if others are quicker
#define KMA_SL_LOSSES 64u // of a place to others, before one looks elsewhere

// ------ chunks that may have room -----------------------------------------------------------------------------------

// The first chunk in [from, to) that has no room, or where one look from there ends; from < to.
static inline KMA_COLD uint kma_sl_next_full(global kma_slab *heap, uint from, uint to)
{
    const kma_sl_heap sl = kma_sl_open(heap);
    const uint end = min((from / 32 + KMA_SL_FAR_SIGHT) * 32, to);
    uint found = end;
    for (uint i = KMA_SL_FAR_SIGHT; i-- != 0;) { // unrolled: no load waits for another. The first one comes last.
        const uint word = min(from / 32 + i, (end - 1) / 32);
        const uint full = ~kma_load_u32(kma_sl_rooms(&sl, word * 32), KMA_RELAXED) & kma_sl_mask(from, end - from, word);
        found = full != 0 ? word * 32 + kma_sl_first_bit(full) : found;
    }
    return found;
}

// The first chunk in [from, to) from which on `count` side by side may have free lines, else `to`.
static inline KMA_COLD uint kma_sl_next_hope(global kma_slab *heap, uint from, uint to, uint count)
{
    const kma_sl_heap sl = kma_sl_open(heap);
    uint found = KMA_SL_NONE;
    uint begin = from; // those up to `at` have room
    uint at = from;
    while (found == KMA_SL_NONE && at < to && at - begin < count) { // on by KMA_SL_FAR_SIGHT words each time
        for (uint i = 0; i < KMA_SL_FAR_SIGHT; i++) { // unrolled: no load waits for another
            const uint word = min(at / 32 + i, (to - 1) / 32);
            const uint there = kma_sl_mask(at, to - at, word);
            const uint full = ~kma_load_u32(kma_sl_rooms(&sl, word * 32), KMA_RELAXED) & there;
            if (full == 0 || found != KMA_SL_NONE)
                continue;
            const uint end = word * 32 + kma_sl_first_bit(full);
            const uint inside = count < 32 ? kma_sl_gap(full | (full - 1) | ~there, count) : KMA_SL_NONE;
            found = end - begin >= count && end > begin ? begin : inside != KMA_SL_NONE ? word * 32 + inside : KMA_SL_NONE;
            begin = word * 32 + kma_highest_bit(full) + 1;
        }
        at = min((at / 32 + KMA_SL_FAR_SIGHT) * 32, to);
    }
    return found != KMA_SL_NONE ? found : at - begin >= count ? begin : to;
}

// ------ chunks that are free ----------------------------------------------------------------------------------------

// kma_sl_clear_room of chunks that one look saw, `full` a bit for each.
static inline KMA_COLD void kma_sl_clear_rooms(global kma_slab *heap, uint chunk, uint full)
{
    const kma_sl_heap sl = kma_sl_open(heap);
    uint not_full = 0;
    kma_fetch_and_u32(kma_sl_rooms(&sl, chunk), ~(full << chunk % 32), KMA_ACQUIRE);
    for (uint i = 0; i < KMA_SL_SIGHT; i++) { // unrolled: none waits for another
        const uint at = min(chunk + i, sl.plan.chunks - 1);
        const uint word = kma_fetch_or_u32(kma_sl_used(&sl, at), 0, KMA_RELEASE);
        not_full |= (word != 0xffffffffu ? 1u : 0u) << i;
    }
    if ((not_full & full) != 0)
        kma_fetch_or_u32(kma_sl_rooms(&sl, chunk), (not_full & full) << chunk % 32, KMA_RELEASE);
}

// Of `chunk` and those behind it, as many as one look sees, in front of `to`, those that are wholly free: one bit for each.
// Those that are full have no room from then on.
static inline KMA_COLD uint kma_sl_see(global kma_slab *heap, uint chunk, uint to)
{
    const kma_sl_heap sl = kma_sl_open(heap);
    uint used = 0, full = 0;
    for (uint i = 0; i < KMA_SL_SIGHT; i++) { // unrolled: no load waits for another
        const uint word = kma_load_u32(kma_sl_used(&sl, min(chunk + i, to - 1)), KMA_RELAXED);
        used |= (word != 0 ? 1u : 0u) << i;
        full |= (word == 0xffffffffu ? 1u : 0u) << i;
    }
    const uint seen = kma_sl_all_slots(min(to - chunk, KMA_SL_SIGHT));
    full &= seen & kma_load_u32(kma_sl_rooms(&sl, chunk), KMA_RELAXED) >> chunk % 32;
    if (full != 0)
        kma_sl_clear_rooms(heap, chunk, full);
    return ~used & seen;
}

// Chunks side by side that are wholly free: [begin, at). A walk need not look at those in front of `at` again.
typedef struct kma_sl_way {
    uint begin;
    uint at;
} kma_sl_way;

// Goes on to the next ones, at least `least` of them: all that are side by side, or so many that they are `enough`. Whether there
// are some in front of `to`.
static inline KMA_COLD bool kma_sl_next_free(global kma_slab *heap, kma_sl_way *way, uint to, uint hoped, uint least, uint enough)
{
    uint begin = way->at, at = begin;
    bool ends = false;                                    // at `at`
    while (!ends && at < to && at - begin < enough) { // on to where a look ends, or the free ones that are enough do
        if (at == begin)
            begin = at = kma_sl_next_hope(heap, at, to, hoped);
        if (at == to)
            break;
        const uint sight = min(KMA_SL_SIGHT - at % KMA_SL_SIGHT, to - at);
        const uint free = kma_sl_see(heap, at, at + sight);
        const uint lead = kma_sl_first_bit(~free); // those that go on from the ones before
        const uint used = ~free & kma_sl_all_slots(sight);
        const uint inside = used != 0 && least <= KMA_SL_LINE ? kma_sl_gap(~free, least) : KMA_SL_NONE;
        if (used == 0) {
            at += sight;
        } else if (at - begin + lead >= least) {
            at += lead;
            ends = true;
        } else if (inside != KMA_SL_NONE) {
            begin = at + inside;
            ends = used >> inside != 0;
            at = ends ? begin + kma_sl_first_bit(used >> inside) : at + sight;
        } else { // some in front of the next look, at most
            begin = at + kma_highest_bit(used) + 1;
            at += sight;
        }
    }
    way->begin = begin;
    way->at = at;
    return at - begin >= least;
}

// ------ lines for a run ---------------------------------------------------------------------------------------------

// The first line for a run with free chunks in it, and free lines on either side of them, in the chunks from `from` on, in front
// of `to`. KMA_SL_NONE if these are too few; unless `is_sure` those behind them are hoped for.
static inline uint kma_sl_line_in(const kma_sl_heap *sl, const kma_sl_way *way, uint from, uint to, uint count, uint align,
                                  bool is_sure)
{
    const uint before = way->begin != from ? kma_load_u32(kma_sl_used(sl, way->begin - 1), KMA_RELAXED) : 0xffffffffu;
    const uint behind = way->at != to ? kma_load_u32(kma_sl_used(sl, way->at), KMA_RELAXED) : 0xffffffffu;
    const uint head = before != 0 ? KMA_SL_LINE - 1 - kma_highest_bit(before) : KMA_SL_LINE;
    const uint first = kma_sl_aligned((way->begin << KMA_SL_LINE_SHIFT) - head, align);
    const uint end = is_sure ? (way->at << KMA_SL_LINE_SHIFT) + kma_sl_first_bit(behind) : to << KMA_SL_LINE_SHIFT;
    return first + count <= end ? first : KMA_SL_NONE;
}

// kma_sl_walk for a long run, which ends when others were quicker so many times. Not `is_sure`: it looks at the words of the first
// chunks only, and hopes for those behind them by their rooms.
static inline KMA_COLD uint kma_sl_walk_far(global kma_slab *heap, uint from, uint to, uint count, uint align, uint losses,
                                            bool is_sure)
{
    KMA_IN_MEMORY const uint hoped = (count - (KMA_SL_LINE - 1)) >> KMA_SL_LINE_SHIFT; // chunks that are the run's as a whole, wherever it is
    KMA_IN_MEMORY const uint least = is_sure ? hoped : min(hoped, KMA_SL_SIGHT);
    KMA_IN_MEMORY const uint enough = is_sure ? kma_sl_whole_lines(count) : least; // in which it fits, wherever lines of it are aligned
    KMA_IN_MEMORY uint lost = 0;
    kma_sl_way way;
    way.begin = way.at = from;
    while (lost < losses && kma_sl_next_free(heap, &way, to, hoped, least, enough)) { // on behind these
        const kma_sl_heap sl = kma_sl_open(heap);
        const uint first = kma_sl_line_in(&sl, &way, from, to, count, align, is_sure);
        if (first == KMA_SL_NONE)
            continue;
        const uint met = kma_sl_claim(heap, first, count);
        if (met == KMA_SL_NONE)
            return first;
        lost++;
        way.at = max(met, way.begin + 1);
        if (met <= way.begin && way.at < to) // who was quicker has hidden his chunks, or will have soon
            way.at = kma_sl_next_full(heap, way.at, to);
    }
    return lost != 0 ? KMA_SL_LOST : KMA_SL_NONE;
}

// `count` lines that nobody else draws before all have gone round the heap; KMA_SL_NONE if some of them are taken.
static inline KMA_COLD uint kma_sl_draw_long(global kma_slab *heap, uint count)
{
    const uint lines = heap->plan.chunks << KMA_SL_LINE_SHIFT;
    if (count > lines)
        return KMA_SL_NONE;
    const uint first = kma_fetch_add_u32(&heap->next_long, count, KMA_RELAXED) % lines;
    return first <= lines - count && kma_sl_take_lines(heap, first, count) ? first : KMA_SL_NONE;
}

// A run was found that ends at a line, by who came from another one. Those who draw now would meet what he passed over, unless
// others moved them already.
static inline KMA_COLD void kma_sl_move_long(global kma_slab *heap, uint from, uint end)
{
    const uint lines = heap->plan.chunks << KMA_SL_LINE_SHIFT;
    bool moves = true;
    for (uint tries = KMA_SL_LOSSES; moves && tries != 0; tries--) {
        const uint next = kma_load_u32(&heap->next_long, KMA_RELAXED);
        moves = (next % lines + lines - from) % lines < (end + lines - from) % lines &&
                kma_cas_u32(&heap->next_long, next, end, KMA_RELAXED) != next;
    }
}

// kma_sl_walk_far from a chunk on to the heap's end. If it finds a place, who draws goes on behind that.
static inline KMA_COLD uint kma_sl_walk_on(global kma_slab *heap, uint from, uint count, uint align, uint losses, bool is_sure)
{
    const uint found = kma_sl_walk_far(heap, from, heap->plan.chunks, count, align, losses, is_sure);
    if (found < KMA_SL_LOST)
        kma_sl_move_long(heap, from << KMA_SL_LINE_SHIFT, found + count);
    return found;
}

// kma_sl_seek for a long run.
static inline KMA_COLD uint kma_sl_seek_long(global kma_slab *heap, uint count, uint align)
{
    const uint chunks = heap->plan.chunks;
    if (count > chunks << KMA_SL_LINE_SHIFT)
        return KMA_SL_NONE;
    uint found = KMA_SL_LOST;
    for (uint round = 0; round < KMA_SL_ROUNDS && found == KMA_SL_LOST; round++) {
        const uint start = (kma_load_u32(&heap->next_long, KMA_RELAXED) >> KMA_SL_LINE_SHIFT) % chunks;
        if (round == 0)
            found = kma_sl_walk_far(heap, 0, start, count, align, KMA_SL_LOSSES, false);
        if (found >= KMA_SL_LOST && align == 1)
            found = kma_sl_draw_long(heap, count);
        if (found >= KMA_SL_LOST)
            found = kma_sl_walk_on(heap, start, count, align, 1, false);
    }
    found = found == KMA_SL_NONE ? KMA_SL_LOST : found; // it is not sure yet
    for (uint pass = 0; pass < KMA_SL_PASSES && found == KMA_SL_LOST; pass++)
        found = kma_sl_walk_on(heap, 0, count, align, KMA_SL_LOSSES, true);
    kma_sl_tell_scarce(heap, found < KMA_SL_LOST, count, align);
    return found < KMA_SL_LOST ? found : KMA_SL_NONE;
}

#endif
