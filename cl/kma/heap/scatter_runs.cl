// Requests above a page: runs of pages (ScatterAlloc, 6.3).
//
// The paper keeps super blocks for them, and starts the search anew when another is quicker. Here a run may be anywhere
// within one super block, so that neither pages nor runs are refused while there is room; pages are taken one by one in
// ascending order, and who finds one taken gives back those he has and goes on behind it. Searches begin one behind the
// other: each adds what it wants to `next_run`.
//
// A work-item stopped for ever in here costs its request.
#ifndef KMA_HEAP_SCATTER_RUNS_CL
#define KMA_HEAP_SCATTER_RUNS_CL

#include "kma/platform/memory.cl"
#include "kma/heap/ref.cl"
#include "kma/heap/scatter_pages.cl"

// The first page at or behind `page` that may be free; the number of pages if there is none.
static inline uint kma_sc_skip(const kma_sc_heap *sc, uint page)
{
    uint level = 0;
    uint pages = KMA_SC_FANOUT; // below a word of that level
    while (page < sc->plan.pages) {
        const uint word = kma_load_u32(kma_sc_node(sc, level, page / pages), KMA_RELAXED);
        if ((word & KMA_SC_FREE_PAGE) == 0) {
            page = (page / pages + 1) * pages;
            if (level + 1 < sc->plan.levels && page / pages % KMA_SC_FANOUT == 0) {
                level++;
                pages *= KMA_SC_FANOUT;
            }
        } else if (level == 0) {
            return page;
        } else {
            level--;
            pages /= KMA_SC_FANOUT;
        }
    }
    return sc->plan.pages;
}

// Takes the free pages from `first` on; returns how many, `count` if nobody else had one of them.
static inline uint kma_sc_take_pages(const kma_sc_heap *sc, uint first, uint count)
{
    uint taken = 0;
    while (taken < count) {
        global kma_atomic_u32 *const page = kma_sc_page(sc, first + taken);
        const uint word = kma_load_u32(page, KMA_RELAXED);
        const uint mine = kma_sc_word(taken == 0 ? KMA_SC_HEAD : KMA_SC_REST, KMA_SC_MANY);
        if (kma_sc_room(word, sc->plan.shift) != KMA_SC_FREE_PAGE ||
            kma_cas_u32(page, word, mine, KMA_ACQUIRE) != word)
            break;
        taken++;
    }
    return taken;
}

// Gives them back. Reservations that come too late may be in the count: an add leaves them there. Release: the pages'
// next owners come after what this one did.
static inline void kma_sc_give_pages(const kma_sc_heap *sc, uint first, uint count)
{
    for (uint page = first; page < first + count; page++) {
        const uint before = kma_fetch_add_u32(kma_sc_page(sc, page), KMA_SC_FREE - KMA_SC_MANY, KMA_RELEASE);
        if ((before & KMA_SC_COUNT) == KMA_SC_MANY)
            kma_sc_announce(sc, page, KMA_SC_FREE_PAGE);
    }
}

// Whether so many pages from `first` on are free, as far as a look tells; `*behind` is where to go on if not.
static inline bool kma_sc_is_run(const kma_sc_heap *sc, uint first, uint count, uint *behind)
{
    const uint super_end = min(((first >> sc->plan.super_shift) + 1) << sc->plan.super_shift, sc->plan.pages);
    if (count > super_end - first) {
        *behind = super_end;
        return false;
    }
    for (uint i = 0; i < count; i++)
        if (kma_sc_room(kma_load_u32(kma_sc_page(sc, first + i), KMA_RELAXED), sc->plan.shift) !=
            KMA_SC_FREE_PAGE) {
            *behind = first + i + 1;
            return false;
        }
    return true;
}

// A run of `count` pages, at most a super block; KMA_NULL if a walk over all of them met none. Two parts: from where
// the last search began to the end, and from the start to there, with what a run that begins in front of it may need.
static inline kma_ref kma_sc_take_run(const kma_sc_heap *sc, uint count)
{
    const uint pages = sc->plan.pages;
    const uint start = kma_fetch_add_u32(&sc->heap->next_run, count, KMA_RELAXED) % pages;
    for (uint part = 0; part < 2; part++) {
        const uint end = part == 0 ? pages : start;
        uint page = kma_sc_skip(sc, part == 0 ? start : 0);
        while (page < end) {
            uint behind;
            if (kma_sc_is_run(sc, page, count, &behind)) {
                const uint taken = kma_sc_take_pages(sc, page, count);
                if (taken == count) {
                    // Before others know the block; its free is ordered after this.
                    kma_store_u32(kma_sc_bitmap(sc, page), count, KMA_RELAXED);
                    return sc->plan.begin + (page << sc->plan.shift);
                }
                kma_sc_give_pages(sc, page, taken);
                behind = page + taken + 1;
            }
            page = kma_sc_skip(sc, behind);
        }
    }
    return KMA_NULL;
}

// Ends the run that begins at `page`: exactly one of several who try does.
static inline bool kma_sc_give_run(const kma_sc_heap *sc, uint page)
{
    const uint count = kma_exchange_u32(kma_sc_bitmap(sc, page), 0, KMA_RELAXED);
    if (count != 0)
        kma_sc_give_pages(sc, page, count);
    return count != 0;
}

#endif
