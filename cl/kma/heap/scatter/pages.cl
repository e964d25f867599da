// A page of the scatter heap: how its chunks are reserved, found, and given back (ScatterAlloc, 6.1
// and 6.2).
//
// Who wants chunks adds their number to the page's count; if that stays within the page's spots,
// they are his, and he looks for that many clear bits in the page's bitmap. Who frees clears the
// bit, then takes one off the count. So
//
//   count == bits set + bits that somebody is about to set or has just cleared + reservations that
//   came too late chunks that are reserved <= spots,
//
// and there is a clear bit for everybody who has a reservation.
//
// The paper has the size of a page's chunks in another word than their count, and locks the page
// while it takes the size away. Here both are in one word: an add tells for which size it reserved,
// whatever the page was when he looked, and only a page without any reservation becomes free. Who
// finds himself in a page that does not suit takes his add back; and who brings the count to 0, by
// whatever subtraction, makes the page free.
//
// States of a page, by its word:
//
//             +---------- split, by compare-and-swap ----------+
//             |                                                v
//   FREE  <-- count 0, by compare-and-swap --  class c, count < spots  <--->  class c, full
//             |                                                         (the others pass by)
//             +---- run: each page by compare-and-swap ------> HEAD or REST
//
// Which pages may have room is in scatter/regions.cl.
//
// Orders: splitting, reserving and claiming acquire; clearing and giving back release, and becoming
// free passes that on. A chunk's next owner comes after its last one by the bit if the page kept
// its size, by the page's word if it did not.
//
// A work-item stopped for ever in here costs its request, and may keep its page from becoming free
// or from being found.
#ifndef KMA_HEAP_SCATTER_PAGES_CL
#define KMA_HEAP_SCATTER_PAGES_CL

#include "kma/platform/bits.cl"
#include "kma/platform/memory.cl"
#include "kma/heap/scatter/layout.cl"
#include "kma/heap/scatter/regions.cl"

#define KMA_SCATTER_NO_SPOT 0xffffffffu

static inline global kma_atomic_u32 *kma_scatter_bitmap(const kma_scatter_heap *sc, uint page)
{
    return kma_scatter_words(sc->heap, sc->plan.bitmaps) + ((size_t)page << sc->plan.shift) / 32;
}

static inline global kma_atomic_u32 *kma_scatter_full(const kma_scatter_heap *sc, uint page)
{
    return kma_scatter_words(sc->heap, sc->plan.full) + (page >> sc->plan.super_shift);
}

// Behind the last page of a page's super block.
static inline uint kma_scatter_super_end(const kma_scatter_heap *sc, uint page)
{
    return min(((page >> sc->plan.super_shift) + 1) << sc->plan.super_shift, sc->plan.pages);
}

// Pages of a page's super block: the last one of a heap may have fewer than the others.
static inline uint kma_scatter_super_pages(const kma_scatter_heap *sc, uint page)
{
    return kma_scatter_super_end(sc, page) - (page >> sc->plan.super_shift << sc->plan.super_shift);
}

// The size that the caller wants or frees, which the page may be split for.
typedef struct kma_scatter_own {
    uint size_class; // KMA_SCATTER_CLASSES: none
    kma_scatter_size size;
} kma_scatter_own;

static inline kma_scatter_own kma_scatter_own_of(const kma_scatter_heap *sc, uint size_class)
{
    kma_scatter_own own;
    own.size_class = size_class;
    own.size = sc->heap->sizes[size_class];
    return own;
}

// a / b and a % b, with `by` from kma_scatter_size.
typedef struct kma_scatter_quotient {
    uint whole;
    uint rest;
} kma_scatter_quotient;

static inline kma_scatter_quotient kma_scatter_divide(uint a, uint b, uint by)
{
    kma_scatter_quotient q;
    q.whole = mul_hi(a, by); // by more than 2^32 / b - 1 - 1 / b: at most one too small
    q.rest = a - q.whole * b;
    if (q.rest >= b) {
        q.whole++;
        q.rest -= b;
    }
    return q;
}

// Chunks in a page that is split for a class.
static inline uint kma_scatter_spots_of(const kma_scatter_heap *sc, kma_scatter_own own, uint split)
{
    return split == own.size_class ? own.size.spots : kma_scatter_spots(split, sc->plan.shift);
}

// Whether the count, going from one value to the other either way, passed the number of spots: the
// page became full, or is so no longer. `word` is the page's.
static inline bool kma_scatter_passed_full(const kma_scatter_heap *sc, kma_scatter_own own,
                                           uint word, uint low, uint high)
{
    if ((word & KMA_SCATTER_FREE) != 0 || kma_scatter_split(word) >= KMA_SCATTER_CLASSES)
        return false;
    const uint spots = kma_scatter_spots_of(sc, own, kma_scatter_split(word));
    return low < spots && spots <= high;
}

// Makes of a free page one in `state`, with `count` reservations; returns its word before. Who got
// a page that is not free has changed nothing. Reservations that came too late stay in the count.
// Acquires what those released who had chunks of the page.
static inline uint kma_scatter_occupy(const kma_scatter_heap *sc, uint page, uint word, uint state,
                                 uint count)
{
    while (word & KMA_SCATTER_FREE) { // once more only if a reservation came, or went
        const uint now = state | ((word & KMA_SCATTER_COUNT) + count);
        const uint seen = kma_cas_u32(kma_scatter_page(sc, page), word, now, KMA_ACQUIRE);
        if (seen == word)
            break;
        word = seen;
    }
    return word;
}

// A page became full by reservations that the caller has still; `split` is its class.
static inline KMA_OUTLINE void kma_scatter_filled(const kma_scatter_heap *sc, uint page, uint split)
{
    kma_fetch_add_u32(kma_scatter_full(sc, page), 1, KMA_RELAXED);
    kma_scatter_unlist(sc, split, page);
}

// Makes a page free if nobody has a reservation there; `*word` is the page's as it was, and becomes
// what it was just before. If there is a reservation now, whoever has it will do it. Those who gave
// back have released; who splits the page acquires that by its word.
static inline bool kma_scatter_set_free(const kma_scatter_heap *sc, uint page, uint *word)
{
    // Once more only if others made the page free meanwhile, split it and emptied it.
    while ((*word & KMA_SCATTER_COUNT) == 0 && (*word & KMA_SCATTER_FREE) == 0 &&
           kma_scatter_split(*word) < KMA_SCATTER_CLASSES) {
        const uint seen =
            kma_cas_u32(kma_scatter_page(sc, page), *word, *word | KMA_SCATTER_FREE, KMA_RELAXED);
        if (seen == *word)
            return true;
        *word = seen;
    }
    return false;
}

// Takes `count` reservations off a page. Whether it was full until then.
static inline KMA_OUTLINE bool kma_scatter_give(const kma_scatter_heap *sc, kma_scatter_own own,
                                                uint page, uint count)
{
    const uint before = kma_fetch_add_u32(kma_scatter_page(sc, page), 0u - count, KMA_RELEASE);
    const uint left = (before & KMA_SCATTER_COUNT) - count;
    const bool was_full = kma_scatter_passed_full(sc, own, before, left, left + count);
    if (was_full)
        kma_fetch_add_u32(kma_scatter_full(sc, page), ~0u, KMA_RELAXED);
    uint word = before - count;
    if (kma_scatter_set_free(sc, page, &word))
        kma_scatter_enter(sc, page);
    else if (was_full)
        kma_scatter_list(sc, kma_scatter_split(before), page);
    return was_full;
}

// Reservations in one page.
typedef struct kma_scatter_share {
    uint page;
    uint size_class; // for which the page is split
    uint first;      // the count before: on a page from which nothing was freed yet, the first spot
    uint count;      // how many there are; 0: none
} kma_scatter_share;

// Up to `count` chunks of a page that is free, which is split then, or split for the caller's own
// size.
static inline KMA_OUTLINE kma_scatter_share kma_scatter_try(const kma_scatter_heap *sc,
                                                            kma_scatter_own own, uint page,
                                                            uint count)
{
    kma_scatter_share share;
    share.page = page;
    share.size_class = own.size_class;
    share.first = 0;
    share.count = min(count, own.size.spots);
    const uint seen = kma_load_u32(kma_scatter_page(sc, page), KMA_RELAXED);
    const uint state = kma_scatter_word(own.size_class, 0);
    uint word = kma_scatter_occupy(sc, page, seen, state, share.count);
    const bool split_it = (word & KMA_SCATTER_FREE) != 0;
    uint back = 0; // reservations to give back
    bool is_full;  // since mine
    if (split_it) {
        // with those that came too late
        is_full = (word & KMA_SCATTER_COUNT) + share.count >= own.size.spots;
        if (!is_full)
            kma_scatter_list(sc, own.size_class, page);
        kma_scatter_leave(sc, page);
        kma_scatter_unlist_former(sc, word, page); // not if that is the caller's and there is room
        word = state;
    } else {
        share.count = 0;
        if (kma_scatter_split(word) != own.size_class ||
            (word & KMA_SCATTER_COUNT) >= own.size.spots)
            return share;
        // which may be anything by now
        word = kma_fetch_add_u32(kma_scatter_page(sc, page), count, KMA_ACQUIRE);
        share.first = word & KMA_SCATTER_COUNT;
        if ((word & KMA_SCATTER_FREE) == 0 && kma_scatter_split(word) == own.size_class &&
            share.first < own.size.spots)
            share.count = min(count, own.size.spots - share.first);
        is_full = kma_scatter_passed_full(sc, own, word, share.first, share.first + count);
        back = count - share.count;
    }
    if (is_full)
        kma_scatter_filled(sc, page, kma_scatter_split(word));
    if (back != 0)
        kma_scatter_give(sc, own, page, back);
    return share;
}

// ------ the bits ---------------------------------------------------------------------------------

// The spot for one who has a reservation and found the bit that he hoped for taken: looks from its
// word on. A round over all words without success means that others claimed every clear bit just
// before it was looked at, and others still cleared some behind the search; 64 rounds in a row are
// taken for a bitmap that does not match the count any more, because a kernel wrote over it.
static inline KMA_OUTLINE uint kma_scatter_search_bit(global kma_atomic_u32 *bitmap, uint spots,
                                                 uint hint)
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
    return KMA_SCATTER_NO_SPOT;
}

// Clears the bits `mine` of a word; returns those that were set. Release: the chunks' next owners
// come after all that their last ones did.
static inline uint kma_scatter_clear_bits(global kma_atomic_u32 *word, uint mine)
{
    return kma_fetch_and_u32(word, ~mine, KMA_RELEASE) & mine;
}

static inline bool kma_scatter_is_set(global kma_atomic_u32 *bitmap, uint spot)
{
    return ((kma_load_u32(&bitmap[spot / 32], KMA_RELAXED) >> (spot % 32)) & 1u) != 0;
}

#endif
