// A page of the scatter heap: how its chunks are reserved, found, and given back (ScatterAlloc, 6.1 and 6.2).
//
// Who wants chunks adds their number to the page's count; if that stays within the page's spots, they are his, and he
// looks for that many clear bits in the page's bitmap. Who frees clears the bit, then takes one off the count. So
//
//   count == bits set + bits that somebody is about to set or has just cleared + reservations that came too late
//   chunks that are reserved <= spots,
//
// and there is a clear bit for everybody who has a reservation.
//
// The paper has the size of a page's chunks in another word than their count, and locks the page while it takes the size
// away. Here both are in one word: an add tells for which size it reserved, whatever the page was when he looked, and
// only a page without any reservation becomes free. Who finds himself in a page that does not suit takes his add back;
// and who brings the count to 0, by whatever subtraction, makes the page free.
//
// States of a page, by its word:
//
//             +---------- split, by compare-and-swap ----------+
//             |                                                v
//   FREE, count 0 <-- count 0, by compare-and-swap --  class c, count < spots  <--->  class c, full
//             |                                                                      (the others pass by)
//             +------- run: each page by compare-and-swap ------> HEAD or REST, KMA_SC_MANY
//
// Orders: splitting, reserving and claiming acquire; clearing, giving back and becoming free release. A chunk's next
// owner comes after its last one by the bit if the page kept its size, by the page's word if it did not.
//
// A work-item stopped for ever in here costs its request, and its page from becoming free.
#ifndef KMA_HEAP_SCATTER_PAGES_CL
#define KMA_HEAP_SCATTER_PAGES_CL

#include "kma/platform/bits.cl"
#include "kma/platform/memory.cl"
#include "kma/heap/scatter_layout.cl"
#include "kma/heap/scatter_regions.cl"

#define KMA_SC_NO_SPOT 0xffffffffu

static inline global kma_atomic_u32 *kma_sc_bitmap(const kma_sc_heap *sc, uint page)
{
    return (global kma_atomic_u32 *)((global uchar *)sc->heap + (size_t)sc->plan.bitmaps * KMA_UNIT) +
           ((size_t)page << sc->plan.shift) / 32;
}

static inline global kma_atomic_u32 *kma_sc_full(const kma_sc_heap *sc, uint page)
{
    return (global kma_atomic_u32 *)((global uchar *)sc->heap + (size_t)sc->plan.full * KMA_UNIT) +
           (page >> sc->plan.super_shift);
}

// The size that the caller wants or frees, which the page may be split for.
typedef struct kma_sc_own {
    uint size_class; // KMA_SC_CLASSES: none
    kma_sc_size size;
} kma_sc_own;

static inline kma_sc_own kma_sc_own_of(const kma_sc_heap *sc, uint size_class)
{
    kma_sc_own own;
    own.size_class = size_class;
    own.size = sc->heap->sizes[size_class];
    return own;
}

// a / b and a % b, with `by` from kma_sc_size.
typedef struct kma_sc_quotient {
    uint whole;
    uint rest;
} kma_sc_quotient;

static inline kma_sc_quotient kma_sc_divide(uint a, uint b, uint by)
{
    kma_sc_quotient q;
    q.whole = mul_hi(a, by); // by more than 2^32 / b - 1 - 1 / b: at most one too small
    q.rest = a - q.whole * b;
    if (q.rest >= b) {
        q.whole++;
        q.rest -= b;
    }
    return q;
}

static inline uint kma_sc_spots_of(const kma_sc_heap *sc, kma_sc_own own, uint split)
{
    return split == own.size_class ? own.size.spots : kma_sc_spots(split, sc->plan.shift);
}

// kma_sc_room.
static inline uint kma_sc_room_of(const kma_sc_heap *sc, kma_sc_own own, uint word)
{
    if ((word & KMA_SC_FREE) == 0 && kma_sc_split(word) == own.size_class)
        return (word & KMA_SC_COUNT) < own.size.spots ? 1u << own.size_class : 0;
    return kma_sc_room(word, sc->plan.shift);
}

// Whether the count, going from one value to the other either way, passed the number of spots: the page became full, or
// is so no longer. `word` is the page's.
static inline bool kma_sc_passed_full(const kma_sc_heap *sc, kma_sc_own own, uint word, uint low, uint high)
{
    if ((word & KMA_SC_FREE) != 0 || kma_sc_split(word) >= KMA_SC_CLASSES)
        return false;
    const uint spots = kma_sc_spots_of(sc, own, kma_sc_split(word));
    return low < spots && spots <= high;
}

// Makes a page free whose word was seen without a reservation. False if there is one now: whoever has it will do it.
static inline bool kma_sc_free_page(const kma_sc_heap *sc, uint page, uint word)
{
    // Relaxed: those who gave back their reservations have released, and this goes on from there.
    if (kma_cas_u32(kma_sc_page(sc, page), word, word | KMA_SC_FREE, KMA_RELAXED) != word)
        return false;
    kma_sc_announce(sc, page, KMA_SC_FREE_PAGE);
    return true;
}

// Takes `count` reservations off a page. Whether it was full until then.
static inline bool kma_sc_give(const kma_sc_heap *sc, kma_sc_own own, uint page, uint count)
{
    const uint before = kma_fetch_add_u32(kma_sc_page(sc, page), 0u - count, KMA_RELEASE);
    const uint split = kma_sc_split(before);
    const uint left = (before & KMA_SC_COUNT) - count;
    const bool was_full = kma_sc_passed_full(sc, own, before, left, left + count);
    if (was_full)
        kma_fetch_add_u32(kma_sc_full(sc, page), ~0u, KMA_RELAXED);
    if (left == 0 && (before & KMA_SC_FREE) != 0) // reservations that came too late kept it from being split
        kma_sc_announce(sc, page, KMA_SC_FREE_PAGE);
    else if (left == 0 && kma_sc_free_page(sc, page, before - count))
        return was_full;
    if (was_full)
        kma_sc_announce(sc, page, 1u << split);
    return was_full;
}

// Reservations in one page.
typedef struct kma_sc_share {
    uint page;
    uint size_class; // for which the page is split
    uint first;      // the count before: on a page from which nothing was freed yet, the first spot
    uint count;      // how many there are; 0: none
} kma_sc_share;

// Up to `count` chunks of a page that is split for one of `want`.
static inline kma_sc_share kma_sc_join(const kma_sc_heap *sc, kma_sc_own own, uint page, uint want, uint count)
{
    kma_sc_share share;
    share.page = page;
    share.count = 0;
    const uint before = kma_fetch_add_u32(kma_sc_page(sc, page), count, KMA_ACQUIRE);
    share.first = before & KMA_SC_COUNT;
    share.size_class = kma_sc_split(before);
    if (kma_sc_passed_full(sc, own, before, share.first, share.first + count))
        kma_fetch_add_u32(kma_sc_full(sc, page), 1, KMA_RELAXED);
    if ((kma_sc_room_of(sc, own, before) & want & ~KMA_SC_FREE_PAGE) != 0)
        share.count = min(count, kma_sc_spots_of(sc, own, share.size_class) - share.first);
    if (share.count != count)
        kma_sc_give(sc, own, page, count - share.count);
    return share;
}

// Up to `count` chunks of a page if it has room for one of `want`; a free page is split for the caller's own size.
static inline kma_sc_share kma_sc_try(const kma_sc_heap *sc, kma_sc_own own, uint page, uint want, uint count)
{
    kma_sc_share share;
    share.page = page;
    share.size_class = own.size_class;
    share.first = share.count = 0;
    uint word = kma_load_u32(kma_sc_page(sc, page), KMA_RELAXED);
    if ((kma_sc_room_of(sc, own, word) & want) == KMA_SC_FREE_PAGE) {
        const uint some = min(count, own.size.spots);
        const uint before = kma_cas_u32(kma_sc_page(sc, page), word, kma_sc_word(own.size_class, some), KMA_ACQUIRE);
        if (before == word) {
            if (some == own.size.spots)
                kma_fetch_add_u32(kma_sc_full(sc, page), 1, KMA_RELAXED);
            else
                kma_sc_announce(sc, page, 1u << own.size_class);
            share.count = some;
            return share;
        }
        word = before; // another was quicker: his size may do
    }
    return (kma_sc_room_of(sc, own, word) & want & ~KMA_SC_FREE_PAGE) != 0 ? kma_sc_join(sc, own, page, want, count)
                                                                            : share;
}

// ------ the bits --------------------------------------------------------------------------------------------------

// The spot for one who has a reservation and found the bit that he hoped for taken: looks from its word on. A round over
// all words without success means that others claimed every clear bit just before it was looked at, and others still
// cleared some behind the search; sixty rounds in a row are taken for a bitmap that does not match the count any more,
// because a kernel wrote over it.
static inline uint kma_sc_search_bit(global kma_atomic_u32 *bitmap, uint spots, uint hint)
{
    const uint words = spots / 32 + (spots % 32 != 0 ? 1 : 0);
    uint word = hint / 32 % words;
    for (uint left = words * 64; left != 0; left--) {
        const uint beyond = (word + 1) * 32 > spots ? ~(uint)kma_bits_below(spots - word * 32) : 0;
        uint taken = kma_load_u32(&bitmap[word], KMA_RELAXED) | beyond;
        while (taken != 0xffffffffu) { // once more only if another set the bit that was clear
            const uint bit = kma_lowest_bit(~taken);
            const uint before = kma_fetch_or_u32(&bitmap[word], 1u << bit, KMA_ACQUIRE);
            if ((before >> bit & 1u) == 0)
                return word * 32 + bit;
            taken = before | beyond;
        }
        word = word + 1 < words ? word + 1 : 0;
    }
    return KMA_SC_NO_SPOT;
}

// Clears the bits `mine` of a word; returns those that were set. Release: the chunks' next owners come after all that
// their last ones did.
static inline uint kma_sc_clear_bits(global kma_atomic_u32 *word, uint mine)
{
    return kma_fetch_and_u32(word, ~mine, KMA_RELEASE) & mine;
}

static inline bool kma_sc_is_set(global kma_atomic_u32 *bitmap, uint spot)
{
    return ((kma_load_u32(&bitmap[spot / 32], KMA_RELAXED) >> (spot % 32)) & 1u) != 0;
}

#endif
