// A page of the scatter heap: how its blocks are reserved, claimed and freed (ScatterAlloc, 6.1,
// 6.2).
//
// 1. Reserve: add the number of blocks to the page's count (acquire). The caller owns those that
//    the page has, and undoes the rest.
// 2. Claim: find and set as many clear bits in the page's bitmap (acquire).
// 3. Free: clear the bit (release), then subtract from the count (release).
//
//   count == bits set + bits about to be set or just cleared + reservations that came too late
//   blocks reserved <= blocks of the page
//
// There is a clear bit for each reservation.
//
// The paper has a page's size and its count in two words, and locks the page to change the size.
// Here both are in one word: an add returns the size for which it reserved, whatever the page was
// before, and only a page without reservations becomes free. If an add met the wrong size, its
// work-item undoes it. The work-item that brings the count to 0 makes the page free.
//
// States of a page, by its word:
//
//            +---------- split, by compare-and-swap ----------+
//            |                                                v
//  FREE  <-- count 0, by compare-and-swap --  class c, count < spots  <--->  class c, full
//            |                                                         (requests pass by)
//            +---- run: each page by compare-and-swap ------> HEAD or REST
//
// scatter/regions.cl says which pages may have free blocks.
//
// Orders: splitting, reserving and claiming acquire; clearing and subtracting release. A block's
// next owner comes after its last one by the bit if the page kept its size, else by the page's
// word.
//
// A work-item that stops for ever here costs its request, and may keep its page from becoming free
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

// The page after the last one of a page's region.
static inline uint kma_scatter_super_end(const kma_scatter_heap *sc, uint page)
{
    return min(((page >> sc->plan.super_shift) + 1) << sc->plan.super_shift, sc->plan.pages);
}

// Pages of a page's region: the heap's last one may have fewer than the others.
static inline uint kma_scatter_super_pages(const kma_scatter_heap *sc, uint page)
{
    return kma_scatter_super_end(sc, page) - (page >> sc->plan.super_shift << sc->plan.super_shift);
}

// The size of the caller's block, and its class.
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
    q.whole = mul_hi(a, by); // `by` > 2^32 / b - 1 - 1 / b: at most one too small
    q.rest = a - q.whole * b;
    if (q.rest >= b) {
        q.whole++;
        q.rest -= b;
    }
    return q;
}

// Blocks in a page that is split for class `split`.
static inline uint kma_scatter_spots_of(const kma_scatter_heap *sc, kma_scatter_own own, uint split)
{
    return split == own.size_class ? own.size.spots : kma_scatter_spots(split, sc->plan.shift);
}

// True if the page became full, or stopped being full: its count went from `low` to `high` or back,
// past the number of blocks. `word` is the page's.
static inline bool kma_scatter_passed_full(const kma_scatter_heap *sc, kma_scatter_own own,
                                           uint word, uint low, uint high)
{
    if ((word & KMA_SCATTER_FREE) != 0 || kma_scatter_split(word) >= KMA_SCATTER_CLASSES)
        return false;
    const uint spots = kma_scatter_spots_of(sc, own, kma_scatter_split(word));
    return low < spots && spots <= high;
}

// Takes a free page for `state`, with `count` reservations more; reservations that came too late
// stay in the count. Returns the word before: if that is not free, nothing was changed. Acquires:
// pairs with the frees of all blocks that the page had.
static inline uint kma_scatter_occupy(const kma_scatter_heap *sc, uint page, uint word, uint state,
                                 uint count)
{
    while (word & KMA_SCATTER_FREE) { // again if a reservation came or went
        const uint now = state | ((word & KMA_SCATTER_COUNT) + count);
        const uint seen = kma_cas_u32(kma_scatter_page(sc, page), word, now, KMA_ACQUIRE);
        if (seen == word)
            break;
        word = seen;
    }
    return word;
}

// After the caller's reservations filled a page of class `split`: counts it, and takes it out of
// the list.
static inline KMA_OUTLINE void kma_scatter_filled(const kma_scatter_heap *sc, uint page, uint split)
{
    kma_fetch_add_u32(kma_scatter_full(sc, page), 1, KMA_RELAXED);
    kma_scatter_unlist(sc, split, page);
}

// Makes a page free if it has no reservation. `*word` is its word, and becomes the last one seen.
// With a reservation the work-item that has it makes the page free. Relaxed: the frees released
// before; a work-item that splits the page acquires by the same word.
static inline bool kma_scatter_set_free(const kma_scatter_heap *sc, uint page, uint *word)
{
    // Again only if other lanes made the page free, split it and emptied it.
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

// Takes `count` reservations off a page, and makes it free if none is left. True if it was full.
// Releases.
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
    uint size_class; // the page's class
    uint first;      // the count before: the first block if nothing was freed in the page yet
    uint count;      // how many there are; 0: none
} kma_scatter_share;

// Reserves up to `count` blocks of a page: of a free one, which it splits, or of one with the
// caller's class. Acquires.
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
    uint back = 0; // reservations to take back
    bool is_full;  // by the caller's reservations
    if (split_it) {
        // counts reservations that came too late, too
        is_full = (word & KMA_SCATTER_COUNT) + share.count >= own.size.spots;
        if (!is_full)
            kma_scatter_list(sc, own.size_class, page);
        kma_scatter_leave(sc, page);
        kma_scatter_unlist_former(sc, word, page); // does nothing if that is own class and not full
        word = state;
    } else {
        share.count = 0;
        if (kma_scatter_split(word) != own.size_class ||
            (word & KMA_SCATTER_COUNT) >= own.size.spots)
            return share;
        // the page may have another state by now
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

// Claims a bit for a caller with a reservation, from the word of `hint` on. Returns the block's
// number; KMA_SCATTER_NO_SPOT if 64 rounds over all words found none. Acquires.
//
// A round in vain means that other lanes claimed every clear bit just before the search came to it,
// and freed bits that it had passed. 64 rounds in vain mean that the bitmap does not match the
// count: a kernel wrote over it.
static inline KMA_OUTLINE uint kma_scatter_search_bit(global kma_atomic_u32 *bitmap, uint spots,
                                                 uint hint)
{
    const uint words = spots / 32 + (spots % 32 != 0 ? 1 : 0);
    uint word = hint / 32 % words;
    for (uint left = words * 64; left != 0; left--) {
        const uint beyond = (word + 1) * 32 > spots ? ~(uint)kma_bits_below(spots - word * 32) : 0;
        uint taken = kma_load_u32(&bitmap[word], KMA_RELAXED) | beyond;
        while (taken != 0xffffffffu) { // again if another lane set the bit
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

// Clears the bits `mine` of a word; returns those that were set. Release: pairs with the next
// claims.
static inline uint kma_scatter_clear_bits(global kma_atomic_u32 *word, uint mine)
{
    return kma_fetch_and_u32(word, ~mine, KMA_RELEASE) & mine;
}

static inline bool kma_scatter_is_set(global kma_atomic_u32 *bitmap, uint spot)
{
    return ((kma_load_u32(&bitmap[spot / 32], KMA_RELAXED) >> (spot % 32)) & 1u) != 0;
}

#endif
