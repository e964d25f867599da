// Requests above a page: runs of pages (ScatterAlloc, 6.3).
//
// The paper keeps super blocks for them, and starts the search anew when another is quicker. Here a
// run may be anywhere within one super block, so that neither pages nor runs are refused while
// there is room. Who wants a run takes its pages out of the tree of free pages first, a word of
// bits at a time in ascending order, so that of those who want runs only one goes on; then he takes
// the pages, which others may be splitting, by their words. Who finds one missing gives back those
// he has and goes on behind it. What is given back is one stretch of free pages again with no
// merging step.
//
// A search begins where nobody else does: each adds what it wants to `next_run`. If the pages there
// are taken, it looks at places by chance, since all who walk from near would meet; only at last
// over all pages.
//
// A work-item stopped for ever in here costs its request, and the pages that it has taken.
#ifndef KMA_HEAP_SCATTER_RUNS_CL
#define KMA_HEAP_SCATTER_RUNS_CL

#include "kma/platform/memory.cl"
#include "kma/heap/common/ref.cl"
#include "kma/heap/scatter/pages.cl"

// Places where a search looks before it walks over all pages. So many that on a heap which is half
// full, where a draw fails with some 0.4, nobody of millions has to walk: a walk goes through what
// may be gigabytes of taken pages. (The tests of tests/host take less.)
#ifndef KMA_SCATTER_RUN_DRAWS
#define KMA_SCATTER_RUN_DRAWS 64u
#endif
// Pages in which a run may begin from such a place on; at the first place, at that only.
#ifndef KMA_SCATTER_RUN_WINDOW
#define KMA_SCATTER_RUN_WINDOW 32u
#endif
// over all pages, the second and later ones only if others got in the way
#define KMA_SCATTER_RUN_WALKS 8u

// The bits of the pages from `page` to in front of `behind` that are in the same word as `page`.
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

// Gives back `count` pages from `first` on, of which the first `taken` are a run's.
static inline void kma_scatter_give_pages(const kma_scatter_heap *sc, uint first, uint taken,
                                          uint count)
{
    // release: their next owners come after what this one did
    for (uint page = first; page < first + taken; page++)
        kma_fetch_or_u32(kma_scatter_page(sc, page), KMA_SCATTER_FREE, KMA_RELEASE);
    kma_scatter_put_pages(sc, first, count);
}

// Takes `count` pages from `first` on out of their tree, or none; returns how many are in front of
// the first that was not there: `count` if no other may make a run of them.
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

// Makes a run of `count` pages from `first` on, or nothing; returns how many are in front of the
// first that is not free: `count` if they are the caller's.
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

// How many pages from `first` on, up to `count`, are free as far as a look tells.
static inline uint kma_scatter_stretch(const kma_scatter_heap *sc, uint first, uint count)
{
    for (uint i = 0; i < count; i++) {
        const uint word = kma_load_u32(kma_scatter_page(sc, first + i), KMA_RELAXED);
        if ((word & KMA_SCATTER_FREE) == 0)
            return i;
    }
    return count;
}

// Of a word of free pages the bits at which a run may begin: with as many more bits set as the run
// needs, or up to the word's end, behind which others will tell.
static inline uint kma_scatter_starts(uint word, uint count)
{
    ulong starts = word | ~(ulong)0 << KMA_BIT_TREE_FANOUT;
    const uint want = min(count, KMA_BIT_TREE_FANOUT);
    for (uint have = 1; have < want;) { // set: where so many are
        const uint more = min(have, want - have);
        starts &= starts >> more;
        have += more;
    }
    return (uint)(starts & kma_bits_below(KMA_BIT_TREE_FANOUT));
}

// Takes a run of `count` pages that begins at or behind `page`, in front of `end`; returns its
// first page, or KMA_SCATTER_NONE. `*lost` becomes true if one was seen that was another's when it
// should be taken.
static inline uint kma_scatter_seek_run(const kma_scatter_heap *sc, uint page, uint end, uint count,
                                   bool *lost)
{
    for (;;) { // `page` grows each time
        page = kma_bit_tree_next(kma_scatter_free_pages(sc), sc->plan.room, page);
        if (page >= end) // as KMA_BIT_TREE_NONE is
            return KMA_SCATTER_NONE;
        const uint first = page & ~(KMA_BIT_TREE_FANOUT - 1); // of the word's
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
        kma_scatter_leave(sc, page); // unless it is free
        page++;
    }
}

// The first page of a run of `count`, which is the caller's now; KMA_SCATTER_NONE if there is none,
// or others were quicker time and again. A lone caller finds it if there is one.
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
        // of a walk: what is in front of its start
        const bool is_rest = walks && (step - KMA_SCATTER_RUN_DRAWS) % 2 != 0;
        if (!is_rest) {
            if (!lost && walks && step != KMA_SCATTER_RUN_DRAWS)
                break;
            const uint ticket = kma_fetch_add_u32(&sc->heap->next_run, count, KMA_RELAXED);
            from = (step == 0 ? ticket : kma_mix32(ticket)) % pages;
            // side by side, with no holes between
            from -= (from & ((1u << sc->plan.super_shift) - 1)) % count;
            lost = false;
        }
        const uint window = step == 0 ? 1 : walks ? pages - from : KMA_SCATTER_RUN_WINDOW;
        found = kma_scatter_seek_run(sc, is_rest ? 0 : from,
                                     is_rest ? from : min(from + window, pages), count, &lost);
    }
    return found;
}

// A run of `count` pages, at most a super block; KMA_NULL if there is none.
static inline kma_ref kma_scatter_take_run(const kma_scatter_heap *sc, uint count)
{
    const uint first = kma_scatter_find_run(sc, count);
    if (first == KMA_SCATTER_NONE)
        return KMA_NULL;
    // Before others know the block; its free is ordered after this.
    kma_store_u32(kma_scatter_bitmap(sc, first), count, KMA_RELAXED);
    return sc->plan.begin + (first << sc->plan.shift);
}

// Whether a page is of a run, and not its first.
static inline bool kma_scatter_is_rest(const kma_scatter_heap *sc, uint page)
{
    const uint word = kma_load_u32(kma_scatter_page(sc, page), KMA_RELAXED);
    return (word & KMA_SCATTER_FREE) == 0 && kma_scatter_split(word) == KMA_SCATTER_REST;
}

// Ends the run that begins at `page`: exactly one of several who try does, for only he finds it a
// head.
static inline KMA_OUTLINE bool kma_scatter_give_run(const kma_scatter_heap *sc, uint page)
{
    // whoever wrote over it shall not reach far
    const uint length = kma_load_u32(kma_scatter_bitmap(sc, page), KMA_RELAXED);
    const uint super_end = kma_scatter_super_end(sc, page);
    if (length == 0 || length > super_end - page)
        return false;
    uint word = kma_load_u32(kma_scatter_page(sc, page), KMA_RELAXED);
    for (;;) { // once more only if a reservation came, or went
        if ((word & KMA_SCATTER_FREE) != 0 || kma_scatter_split(word) != KMA_SCATTER_HEAD)
            return false;
        const uint rest = kma_scatter_word(KMA_SCATTER_REST, word & KMA_SCATTER_COUNT);
        const uint seen = kma_cas_u32(kma_scatter_page(sc, page), word, rest, KMA_RELAXED);
        if (seen == word)
            break;
        word = seen;
    }
    kma_store_u32(kma_scatter_bitmap(sc, page), 0, KMA_RELAXED);
    // As far as the pages are a run's: the length is an old one if others freed it meanwhile, and
    // took the pages anew.
    uint pages = 1;
    while (pages < length && kma_scatter_is_rest(sc, page + pages)) // a page further each time
        pages++;
    kma_scatter_give_pages(sc, page + 1, pages - 1, pages - 1);
    // Free, and was a head: so that a second free is known for one.
    kma_fetch_add_u32(kma_scatter_page(sc, page),
                      KMA_SCATTER_FREE + kma_scatter_word(KMA_SCATTER_HEAD, 0) -
                          kma_scatter_word(KMA_SCATTER_REST, 0),
                      KMA_RELEASE);
    kma_scatter_put_pages(sc, page, 1);
    return true;
}

#endif
