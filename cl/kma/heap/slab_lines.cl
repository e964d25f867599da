// The lines of a slab heap: who has which, and which chunks have free ones.
//
// A line belongs to whoever set its bit in `used`, until he clears it. Lines that somebody wants side by side are claimed
// all or none: who meets some that are taken gives back what he got in that attempt.
//
// Where to claim say cursors, to lanes together (slab_cursors.cl). If these lead to lines of others, and for who comes alone, lines
// are looked for (slab_windows.cl, slab_gaps.cl), past chunks that have none:
//
//   a chunk's word is not full  =>  its bit in `rooms` is set, or somebody is about to set it
//
// The reverse need not hold: who takes lines clears no bit there. Who meets a full chunk does.
//
// Those who might miss each other: who gives lines back clears their bits, and if the word was full before, sees to it that the
// chunk's bit is set; who clears that bit then looks at the word once more, by a read-modify-write, and if it is not full he
// sets the bit again. If his look comes before the lines are given back, whoever gives them comes after it, as the one
// releases and the other acquires, and sees that the bit is clear; else he sees the lines. Who does not look, but sets the bit
// anyway (kma_sl_give_in, kma_sl_set_rooms), does so by a release, and the other's clearing acquires: either the bit was set
// before, and he sees the lines, or it is set now. A work-item stopped for ever between the two costs the lines that are free
// in that chunk, for those who search, until it was full once more and another gives some back; cursors still lead there.
#ifndef KMA_HEAP_SLAB_LINES_CL
#define KMA_HEAP_SLAB_LINES_CL

#include "kma/platform/bits.cl"
#include "kma/platform/memory.cl"
#include "kma/heap/slab_plan.cl"

#define KMA_SL_LOST 0xfffffffeu // no line: others were quicker, or there are none

// Chunks that are claimed without waiting for one another, at most 32.
#ifndef KMA_SL_ABREAST
#define KMA_SL_ABREAST 8u
#endif

// A heap, and its plan as it was read before the first atomic: an acquire may empty the cache.
typedef struct kma_sl_heap {
    global kma_slab *heap;
    kma_sl_plan plan;
} kma_sl_heap;

static inline kma_sl_heap kma_sl_open(global kma_slab *heap)
{
    kma_sl_heap sl;
    sl.heap = heap;
    sl.plan = heap->plan;
    return sl;
}

// The words that begin at a unit of the heap.
static inline global kma_atomic_u32 *kma_sl_at(global kma_slab *heap, uint unit)
{
    return (global kma_atomic_u32 *)((global uchar *)heap + (size_t)unit * KMA_UNIT);
}

static inline global kma_atomic_u32 *kma_sl_used(const kma_sl_heap *sl, uint chunk)
{
    return kma_sl_at(sl->heap, sl->plan.used) + chunk;
}

static inline uint kma_sl_lines(const kma_sl_heap *sl)
{
    return sl->plan.chunks << KMA_SL_LINE_SHIFT;
}

// Of the lines [first, first + count), those of a chunk that has some, as bits of its word.
static inline uint kma_sl_mask(uint first, uint count, uint chunk)
{
    const uint begin = max(first, chunk * KMA_SL_LINE) - chunk * KMA_SL_LINE;
    const uint end = min(first + count, chunk * KMA_SL_LINE + KMA_SL_LINE) - chunk * KMA_SL_LINE;
    return 0xffffffffu >> (KMA_SL_LINE - end) & 0xffffffffu << begin;
}

// ------ chunks with room --------------------------------------------------------------------------------------------

static inline global kma_atomic_u32 *kma_sl_rooms(const kma_sl_heap *sl, uint chunk)
{
    return kma_sl_at(sl->heap, sl->plan.rooms) + chunk / 32;
}

// More lines side by side than this were looked for in vain a short while ago. A hint, which spares those the search near by
// who come by the thousand to a heap that is full; a walk through the heap does not ask it.
static inline uint kma_sl_scarce(global kma_slab *heap)
{
    return kma_load_u32(&heap->scarce, KMA_RELAXED) - 1; // 0xffffffff: nothing is
}

static inline bool kma_sl_is_scarce(global kma_slab *heap, uint count)
{
    return count > kma_sl_scarce(heap);
}

static inline void kma_sl_set_scarce(global kma_slab *heap, uint count)
{
    if (kma_load_u32(&heap->scarce, KMA_RELAXED) != count)
        kma_store_u32(&heap->scarce, count, KMA_RELAXED);
}

// The first chunk in [from, to) that may have a free line, else `to`.
static inline uint kma_sl_next_room(const kma_sl_heap *sl, uint from, uint to)
{
    while (from < to) { // on by a word each time, or by eight, whose loads do not wait for one another
        if (from % 32 == 0 && to - from >= 8 * 32) {
            uint some = 0;
            for (uint i = 0; i < 8; i++)
                some |= kma_load_u32(kma_sl_rooms(sl, from) + i, KMA_RELAXED);
            if (some == 0) {
                from += 8 * 32;
                continue;
            }
        }
        const uint word = kma_load_u32(kma_sl_rooms(sl, from), KMA_RELAXED) >> from % 32;
        if (word != 0)
            return min(from + kma_sl_first_bit(word), to);
        from = (from / 32 + 1) * 32;
    }
    return to;
}

// A chunk was seen full.
static inline void kma_sl_clear_room(const kma_sl_heap *sl, uint chunk)
{
    const uint bit = 1u << chunk % 32;
    kma_fetch_and_u32(kma_sl_rooms(sl, chunk), ~bit, KMA_ACQUIRE);
    if (kma_fetch_or_u32(kma_sl_used(sl, chunk), 0, KMA_RELEASE) != 0xffffffffu)
        kma_fetch_or_u32(kma_sl_rooms(sl, chunk), bit, KMA_RELEASE);
}

// ------ taking and giving back --------------------------------------------------------------------------------------

// The chunks from `from` to in front of `to` are full soon, and the caller's as a whole: searches pass over them. He sets their
// bits again when he gives them back, or gets too few of them; nobody else need look at the words until then.
static inline void kma_sl_hide(const kma_sl_heap *sl, uint from, uint to)
{
    for (uint chunk = from; chunk < to; chunk = (chunk / 32 + 1) * 32) // on by a word
        kma_fetch_and_u32(kma_sl_rooms(sl, chunk), ~kma_sl_mask(from, to - from, chunk / 32), KMA_RELAXED);
}

// Clears bits of lines, behind the caller's release fence: who gets them next comes after all that was done with them.
static inline void kma_sl_give_in(const kma_sl_heap *sl, uint chunk, uint mask)
{
    if (kma_fetch_and_u32(kma_sl_used(sl, chunk), ~mask, KMA_RELAXED) == 0xffffffffu)
        kma_fetch_or_u32(kma_sl_rooms(sl, chunk), 1u << chunk % 32, KMA_RELEASE);
    kma_sl_set_scarce(sl->heap, 0);
}

// Sets the bits of the chunks from `from` to in front of `to`, which were full. A release.
static inline KMA_COLD void kma_sl_set_rooms(global kma_slab *heap, uint from, uint to)
{
    const kma_sl_heap sl = kma_sl_open(heap);
    kma_fence(KMA_RELEASE);
    for (uint chunk = from; chunk < to; chunk = (chunk / 32 + 1) * 32) // on by a word
        kma_fetch_or_u32(kma_sl_rooms(&sl, chunk), kma_sl_mask(from, to - from, chunk / 32), KMA_RELAXED);
}

// Whether a chunk's word was full before the caller, who acquired, gave back lines of it, and its bit is clear since.
static inline bool kma_sl_lacks_room(const kma_sl_heap *sl, uint chunk, uint before)
{
    return before == 0xffffffffu && (kma_load_u32(kma_sl_rooms(sl, chunk), KMA_RELAXED) >> chunk % 32 & 1u) == 0;
}

// Gives back lines side by side: who gets them next comes after all that was done with them, as each claim acquires (kma_sl_set_in,
// kma_sl_claim, kma_sl_take_gap). Of the chunks' words only the first and the last one are waited for; those between are the
// caller's as a whole, so that nobody else changes them.
static inline void kma_sl_give(const kma_sl_heap *sl, uint first, uint lines)
{
    const uint begin = first >> KMA_SL_LINE_SHIFT;
    const uint end = (first + lines - 1) >> KMA_SL_LINE_SHIFT;
    const uint mask = kma_sl_mask(first, lines, begin);
    uint before, before_end;
    if (end == begin) {
        before = before_end = kma_fetch_and_u32(kma_sl_used(sl, begin), ~mask, KMA_ACQ_REL);
    } else {
        kma_fence(KMA_RELEASE);
        before = kma_fetch_and_u32(kma_sl_used(sl, begin), ~mask, KMA_ACQUIRE);
        for (uint chunk = begin + 1; chunk < end; chunk++)
            kma_store_u32(kma_sl_used(sl, chunk), 0, KMA_RELAXED);
        before_end = kma_fetch_and_u32(kma_sl_used(sl, end), ~kma_sl_mask(first, lines, end), KMA_ACQUIRE);
    }
    kma_sl_set_scarce(sl->heap, 0);
    const uint from = begin + (kma_sl_lacks_room(sl, begin, before) ? 0 : 1);
    const uint to = end + (kma_sl_lacks_room(sl, end, before_end) ? 1 : 0);
    if (from < to)
        kma_sl_set_rooms(sl->heap, from, to);
}

static inline KMA_COLD void kma_sl_give_lines(global kma_slab *heap, uint first, uint lines)
{
    const kma_sl_heap sl = kma_sl_open(heap);
    kma_sl_give(&sl, first, lines);
}

// Sets bits of one chunk; returns those of them that were set already. Acquires what was done with the lines before.
static inline uint kma_sl_set_in(const kma_sl_heap *sl, uint chunk, uint mask)
{
    return kma_fetch_or_u32(kma_sl_used(sl, chunk), mask, KMA_ACQUIRE) & mask;
}

// Takes lines of one chunk, all or none. Acquires as kma_sl_set_in.
static inline bool kma_sl_claim_in(global kma_atomic_u32 *used, uint mask)
{
    uint word = kma_load_u32(used, KMA_RELAXED);
    bool got = false;
    while (!got && (word & mask) == 0) { // once more only if others changed the word
        const uint seen = kma_cas_u32(used, word, word | mask, KMA_ACQUIRE);
        got = seen == word;
        word = seen;
    }
    return got;
}

// Takes chunks side by side as a whole, 1 to KMA_SL_ABREAST of them, by atomics that do not wait for one another: those it got,
// one bit for each. They are the caller's behind a fence that acquires.
static inline KMA_COLD uint kma_sl_claim_abreast(global kma_atomic_u32 *used, uint count)
{
    uint got = 0;
    for (uint i = 0; i < KMA_SL_ABREAST; i++) { // unrolled; the last one as often as there are too few
        const uint at = min(i, count - 1);
        got |= (kma_cas_u32(&used[at], 0, 0xffffffffu, KMA_RELAXED) == 0 ? 1u : 0u) << at;
    }
    return got;
}

// The caller hid chunks that he did not get: those have room again that have it. As in kma_sl_clear_room each look is a
// read-modify-write that releases; behind a fence that acquires, for those who set bits without a look.
static inline KMA_COLD void kma_sl_unhide(global kma_slab *heap, uint from, uint to)
{
    const kma_sl_heap sl = kma_sl_open(heap);
    for (uint chunk = from; chunk < to; chunk = (chunk / KMA_SL_ABREAST + 1) * KMA_SL_ABREAST) { // on to the next look
        uint room = 0;
        for (uint i = 0; i < KMA_SL_ABREAST; i++) { // unrolled: none waits for another
            const uint at = min(chunk + i, to - 1);
            room |= (kma_fetch_or_u32(kma_sl_used(&sl, at), 0, KMA_RELEASE) != 0xffffffffu ? 1u : 0u) << at % KMA_SL_ABREAST;
        }
        room &= 0xffffffffu << chunk % KMA_SL_ABREAST; // not those of the next look
        if (room != 0)
            kma_fetch_or_u32(kma_sl_rooms(&sl, chunk), room << chunk % 32 / KMA_SL_ABREAST * KMA_SL_ABREAST, KMA_RELEASE);
    }
}

// Gives back what a claim of [first, first + count) has: its lines in front of `chunk`, from there on the chunks `got`, and its
// lines in the last chunk.
static inline KMA_COLD void kma_sl_unclaim(global kma_slab *heap, uint first, uint count, uint chunk, uint got)
{
    const kma_sl_heap sl = kma_sl_open(heap);
    const uint last = (first + count - 1) >> KMA_SL_LINE_SHIFT;
    kma_fence(KMA_ACQ_REL); // their next owner comes after the one before this claim, too
    kma_sl_give_in(&sl, last, kma_sl_mask(first, count, last));
    for (uint i = 0; i < KMA_SL_ABREAST; i++)
        if ((got >> i & 1u) != 0)
            kma_sl_give_in(&sl, chunk + i, 0xffffffffu);
    kma_sl_give(&sl, first, (chunk << KMA_SL_LINE_SHIFT) - first);
    kma_sl_unhide(heap, chunk, last);
}

// Takes lines side by side, all or none: KMA_SL_NONE, or a chunk in which others have some. First the first chunk and the last
// one, so that of two who want the same place one has lost soon; then those between are hidden, so that he sees where to go on.
static inline KMA_COLD uint kma_sl_claim(global kma_slab *heap, uint first, uint count)
{
    const kma_sl_heap sl = kma_sl_open(heap);
    const uint begin = first >> KMA_SL_LINE_SHIFT;
    const uint last = (first + count - 1) >> KMA_SL_LINE_SHIFT;
    if (!kma_sl_claim_in(kma_sl_used(&sl, begin), kma_sl_mask(first, count, begin)))
        return begin;
    if (last == begin)
        return KMA_SL_NONE;
    if (!kma_sl_claim_in(kma_sl_used(&sl, last), kma_sl_mask(first, count, last))) {
        kma_sl_give_lines(heap, first, ((begin + 1) << KMA_SL_LINE_SHIFT) - first);
        return last;
    }
    kma_sl_hide(&sl, begin + 1, last);
    for (uint chunk = begin + 1; chunk < last; chunk += KMA_SL_ABREAST) {
        const uint some = min(last - chunk, KMA_SL_ABREAST);
        const uint got = kma_sl_claim_abreast(kma_sl_used(&sl, chunk), some);
        if (got != kma_sl_all_slots(some)) {
            kma_sl_unclaim(heap, first, count, chunk, got);
            return chunk + kma_sl_first_bit(~got);
        }
    }
    if (last - begin > 1)
        kma_fence(KMA_ACQUIRE);
    return KMA_SL_NONE;
}

// The same, for who does not ask where.
static inline bool kma_sl_take_lines(global kma_slab *heap, uint first, uint count)
{
    return count == 0 || kma_sl_claim(heap, first, count) == KMA_SL_NONE;
}

#endif
