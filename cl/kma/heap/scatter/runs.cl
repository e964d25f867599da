// Requests above a page: runs of pages side by side (ScatterAlloc, 6.3).
//
// The paper keeps super blocks for them, and repeats the search if another thread was faster. Here
// a run may be anywhere within one region: neither blocks nor runs are refused while memory is
// free.
//
// 1. Take the pages out of the tree of free pages, a word of bits at a time, in ascending order
//    (acquire). Of work-items that want overlapping runs, one gets the last common page.
// 2. Take the pages by their words (compare-and-swap, acquire): other lanes may be splitting them.
// 3. If a page is missing: give back those taken, and go on after it.
//
// A run that is freed is free pages again; nothing is merged.
//
// Searches start apart from one another: each adds its pages to `next_run`. If the pages there are
// not free, it looks at random positions, since walks from one position would meet; at last it
// walks over all pages.
//
// A work-item that stops for ever here costs its request, and the pages that it has taken.
#ifndef KMA_HEAP_SCATTER_RUNS_CL
#define KMA_HEAP_SCATTER_RUNS_CL

#include "kma/platform/memory.cl"
#include "kma/heap/common/ref.cl"
#include "kma/heap/scatter/pages.cl"

// Random positions that a search looks at before it walks over all pages, which may be gigabytes.
// In a half full heap a draw fails with some 0.4: practically no work-item has to walk. tests/host
// takes fewer.
#ifndef KMA_SCATTER_RUN_DRAWS
#define KMA_SCATTER_RUN_DRAWS 64u
#endif
// Pages from a random position on at which a run may begin; at the first position only that page.
#ifndef KMA_SCATTER_RUN_WINDOW
#define KMA_SCATTER_RUN_WINDOW 32u
#endif
// walks over all pages; a second and later one only if other lanes got in the way
#define KMA_SCATTER_RUN_WALKS 8u

// The bits of pages [page, behind) that are in the same word of the tree as `page`.
static inline uint kma_scatter_bits_of(uint page, uint behind)
{
    const uint word_end = (page | (KMA_BIT_TREE_FANOUT - 1)) + 1;
    const uint low = page & (KMA_BIT_TREE_FANOUT - 1);
    return (uint)kma_bits_below(min(behind, word_end) - page) << low;
}

// Puts `count` pages from `first` on into the tree of free pages.
static inline void kma_scatter_put_pages(const kma_scatter_heap *sc, uint first, uint count)
{
    for (uint page = first; page < first + count;) { // on by a word of bits each time
        const uint mask = kma_scatter_bits_of(page, first + count);
        kma_bit_tree_put_all(kma_scatter_free_pages(sc), sc->plan.room, page >> KMA_BIT_TREE_SHIFT,
                             mask);
        page += (uint)popcount(mask);
    }
}

// Gives back `count` pages from `first` on; the first `taken` of them belong to a run. Releases.
static inline void kma_scatter_give_pages(const kma_scatter_heap *sc, uint first, uint taken,
                                          uint count)
{
    // release: pairs with the next owner's acquire of the page's word
    for (uint page = first; page < first + taken; page++)
        kma_fetch_or_u32(kma_scatter_page(sc, page), KMA_SCATTER_FREE, KMA_RELEASE);
    kma_scatter_put_pages(sc, first, count);
}

// Takes pages [first, first + count) out of the tree of free pages, or none. Returns `count`, or
// the number of pages before the first one that was not there.
static inline uint kma_scatter_take_bits(const kma_scatter_heap *sc, uint first, uint count)
{
    for (uint page = first; page < first + count;) { // on by a word of bits each time
        const uint mask = kma_scatter_bits_of(page, first + count);
        const uint word = page >> KMA_BIT_TREE_SHIFT;
        const uint mine =
            kma_bit_tree_take_all(kma_scatter_free_pages(sc), sc->plan.room, word, mask);
        if (mine != mask) {
            if (mine != 0)
                kma_bit_tree_put_all(kma_scatter_free_pages(sc), sc->plan.room, word, mine);
            kma_scatter_put_pages(sc, first, page - first);
            return (word << KMA_BIT_TREE_SHIFT) + kma_lowest_bit(mask & ~mine) - first;
        }
        page += (uint)popcount(mask);
    }
    return count;
}

// Takes pages [first, first + count) for a run, or none. Returns `count`, or the number of pages in
// front of the first one that is not free. Acquires.
static inline uint kma_scatter_take_pages(const kma_scatter_heap *sc, uint first, uint count)
{
    const uint there = kma_scatter_take_bits(sc, first, count);
    if (there != count)
        return there;
    for (uint i = 0; i < count; i++) {
        const uint page = first + i;
        const uint seen = kma_load_u32(kma_scatter_page(sc, page), KMA_RELAXED);
        const uint state = kma_scatter_word(i == 0 ? KMA_SCATTER_HEAD : KMA_SCATTER_REST, 0);
        const uint before = kma_scatter_occupy(sc, page, seen, state, 0);
        if ((before & KMA_SCATTER_FREE) == 0) {
            kma_scatter_give_pages(sc, first, i, count);
            return i;
        }
        kma_scatter_unlist_former(sc, before, page);
    }
    return count;
}

// Returns how many pages from `first` on are free, up to `count`. Relaxed: a hint.
static inline uint kma_scatter_stretch(const kma_scatter_heap *sc, uint first, uint count)
{
    for (uint i = 0; i < count; i++) {
        const uint word = kma_load_u32(kma_scatter_page(sc, first + i), KMA_RELAXED);
        if ((word & KMA_SCATTER_FREE) == 0)
            return i;
    }
    return count;
}

// Returns the bits of a word of free pages at which a run may begin: enough bits are set after it,
// or all up to the word's end; the next words are checked later.
static inline uint kma_scatter_starts(uint word, uint count)
{
    ulong starts = word | ~(ulong)0 << KMA_BIT_TREE_FANOUT;
    const uint want = min(count, KMA_BIT_TREE_FANOUT);
    for (uint have = 1; have < want;) { // each set bit has so many set bits from it on
        const uint more = min(have, want - have);
        starts &= starts >> more;
        have += more;
    }
    return (uint)(starts & kma_bits_below(KMA_BIT_TREE_FANOUT));
}

// Takes a run of `count` pages that begins in [page, end). Returns its first page, or
// KMA_SCATTER_NONE. `*lost` becomes true if another lane took a page of a run that was seen free.
static inline uint kma_scatter_seek_run(const kma_scatter_heap *sc, uint page, uint end, uint count,
                                   bool *lost)
{
    for (;;) { // `page` grows each time
        page = kma_bit_tree_next(kma_scatter_free_pages(sc), sc->plan.room, page);
        if (page >= end) // also if KMA_BIT_TREE_NONE
            return KMA_SCATTER_NONE;
        const uint first = page & ~(KMA_BIT_TREE_FANOUT - 1); // the word's first page
        const uint word =
            kma_load_u32(kma_scatter_free_pages(sc) + (page >> KMA_BIT_TREE_SHIFT), KMA_RELAXED);
        const uint starts = kma_scatter_starts(word, count) & ~(uint)kma_bits_below(page - first);
        page = first + (starts != 0 ? kma_lowest_bit(starts) : KMA_BIT_TREE_FANOUT);
        const uint super_end = kma_scatter_super_end(sc, page);
        if (starts == 0 || page >= end)
            continue;
        if (count > super_end - page) {
            page = super_end;
            continue;
        }
        uint there = kma_scatter_stretch(sc, page, count);
        if (there == count) {
            there = kma_scatter_take_pages(sc, page, count);
            if (there == count)
                return page;
            *lost = true;
        }
        page += there;
        kma_scatter_leave(sc, page); // nothing if it is free
        page++;
    }
}

// Takes a run of `count` pages. Returns its first page; KMA_SCATTER_NONE if there is none, or other
// lanes were faster in every walk. A lone caller finds a run if there is one.
static inline KMA_OUTLINE uint kma_scatter_find_run(const kma_scatter_heap *sc, uint count)
{
    const uint pages = sc->plan.pages;
    uint found = KMA_SCATTER_NONE;
    uint from = 0;
    bool lost = false;
    for (uint step = 0;
         step < KMA_SCATTER_RUN_DRAWS + 2 * KMA_SCATTER_RUN_WALKS && found == KMA_SCATTER_NONE;
         step++) {
        const bool walks = step >= KMA_SCATTER_RUN_DRAWS;
        // second half of a walk: the pages before its start
        const bool is_rest = walks && (step - KMA_SCATTER_RUN_DRAWS) % 2 != 0;
        if (!is_rest) {
            if (!lost && walks && step != KMA_SCATTER_RUN_DRAWS)
                break;
            const uint ticket = kma_fetch_add_u32(&sc->heap->next_run, count, KMA_RELAXED);
            from = (step == 0 ? ticket : kma_mix32(ticket)) % pages;
            // at a multiple of `count` in the region: runs of one length leave no holes
            from -= (from & ((1u << sc->plan.super_shift) - 1)) % count;
            lost = false;
        }
        const uint window = step == 0 ? 1 : walks ? pages - from : KMA_SCATTER_RUN_WINDOW;
        found = kma_scatter_seek_run(sc, is_rest ? 0 : from,
                                     is_rest ? from : min(from + window, pages), count, &lost);
    }
    return found;
}

// Takes a run of `count` pages, at most a region. KMA_NULL if there is none. Acquires.
static inline kma_ref kma_scatter_take_run(const kma_scatter_heap *sc, uint count)
{
    const uint first = kma_scatter_find_run(sc, count);
    if (first == KMA_SCATTER_NONE)
        return KMA_NULL;
    // Relaxed: a free comes later, by the order in which the block's ref was passed on.
    kma_store_u32(kma_scatter_bitmap(sc, first), count, KMA_RELAXED);
    return sc->plan.begin + (first << sc->plan.shift);
}

// True if a page belongs to a run and is not its first page.
static inline bool kma_scatter_is_rest(const kma_scatter_heap *sc, uint page)
{
    const uint word = kma_load_u32(kma_scatter_page(sc, page), KMA_RELAXED);
    return (word & KMA_SCATTER_FREE) == 0 && kma_scatter_split(word) == KMA_SCATTER_REST;
}

// Frees the run that begins at `page`. False if it is none: of several frees of one run, one finds
// the head. Releases.
static inline KMA_OUTLINE bool kma_scatter_give_run(const kma_scatter_heap *sc, uint page)
{
    // a kernel may have written over the length: never beyond the region
    const uint length = kma_load_u32(kma_scatter_bitmap(sc, page), KMA_RELAXED);
    const uint super_end = kma_scatter_super_end(sc, page);
    if (length == 0 || length > super_end - page)
        return false;
    uint word = kma_load_u32(kma_scatter_page(sc, page), KMA_RELAXED);
    for (;;) { // again if a reservation came or went
        if ((word & KMA_SCATTER_FREE) != 0 || kma_scatter_split(word) != KMA_SCATTER_HEAD)
            return false;
        const uint rest = kma_scatter_word(KMA_SCATTER_REST, word & KMA_SCATTER_COUNT);
        const uint seen = kma_cas_u32(kma_scatter_page(sc, page), word, rest, KMA_RELAXED);
        if (seen == word)
            break;
        word = seen;
    }
    kma_store_u32(kma_scatter_bitmap(sc, page), 0, KMA_RELAXED);
    // Only pages that are a run's: the length is stale if other lanes freed the run meanwhile and
    // took its pages.
    uint pages = 1;
    while (pages < length && kma_scatter_is_rest(sc, page + pages)) // a page more each round
        pages++;
    kma_scatter_give_pages(sc, page + 1, pages - 1, pages - 1);
    // The free page's `split` says HEAD: a second free is reported as a double free.
    kma_fetch_add_u32(kma_scatter_page(sc, page),
                      KMA_SCATTER_FREE + kma_scatter_word(KMA_SCATTER_HEAD, 0) -
                          kma_scatter_word(KMA_SCATTER_REST, 0),
                      KMA_RELEASE);
    kma_scatter_put_pages(sc, page, 1);
    return true;
}

#endif
