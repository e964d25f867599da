// Which pages of a scatter heap have room (ScatterAlloc, 5.4, "meta data").
//
// The paper counts the full pages of a region. A count does not tell whether what is not full would do, so that a
// request that nothing fits any more has to look at each page. Here a region, 32 pages, has a bit for each page in each
// of several trees (lockfree/bit_tree.cl), whose upper words stand for 32 regions, and so on up to the whole heap:
//
//   free pages   a page that is free is in it, or somebody is about to put it there
//   of class c   a page that is split for c and has a chunk that nobody reserved is in it, or in the tree of free pages
//                still, or somebody is about to put it there
//
// The reverse need not hold. A page that is split stays in the tree of free pages until it is full, which saves most
// pages two atomics, or until somebody comes by who looks for another size: then it goes where it belongs.
//
// Who makes room changes the page's word, then puts the page in. Who fills a page, or finds it without the room that a
// tree told of, takes it out, then looks at its word once more. The one's put releases, the other's take acquires: if
// the page was put in before it was taken out, the second look sees the room; else it is in now. (Who fills a page
// needs no second look for the tree of free pages: as long as he has reservations there it cannot be free.) A page that
// goes from one tree into another is put into that one first: lest who looks through both meanwhile finds it in
// neither.
//
// So a full heap is known by a few words, and nobody walks past pages that are full.
#ifndef KMA_HEAP_SCATTER_REGIONS_CL
#define KMA_HEAP_SCATTER_REGIONS_CL

#include "kma/platform/bits.cl"
#include "kma/platform/memory.cl"
#include "kma/lockfree/bit_tree.cl"
#include "kma/heap/scatter_layout.cl"

// A heap, and its plan as it was read before the first atomic: an acquire may empty the cache.
typedef struct kma_sc_heap {
    global kma_scatter *heap;
    kma_sc_plan plan;
} kma_sc_heap;

static inline kma_sc_heap kma_sc_open(global kma_scatter *heap)
{
    kma_sc_heap sc;
    sc.heap = heap;
    sc.plan = heap->plan;
    return sc;
}

// The words that begin at a unit of the heap.
static inline global kma_atomic_u32 *kma_sc_words(global kma_scatter *heap, uint unit)
{
    return (global kma_atomic_u32 *)((global uchar *)heap + (size_t)unit * KMA_UNIT);
}

static inline global kma_atomic_u32 *kma_sc_page(const kma_sc_heap *sc, uint page)
{
    return kma_sc_words(sc->heap, sc->plan.table) + page;
}

static inline global kma_atomic_u32 *kma_sc_free_pages(const kma_sc_heap *sc)
{
    return kma_sc_words(sc->heap, sc->plan.trees);
}

static inline global kma_atomic_u32 *kma_sc_list_of(const kma_sc_heap *sc, uint size_class)
{
    return kma_sc_free_pages(sc) + (size_t)sc->plan.tree_words * (size_class + 1);
}

// The tree where a page belongs by its word; NULL: none.
static inline global kma_atomic_u32 *kma_sc_tree_of(const kma_sc_heap *sc, uint word)
{
    if (word & KMA_SC_FREE)
        return kma_sc_free_pages(sc);
    return kma_sc_has_room(word, sc->plan.shift) ? kma_sc_list_of(sc, kma_sc_split(word)) : (global kma_atomic_u32 *)0;
}

// Takes a page out of a tree if it does not belong there.
static inline KMA_OUTLINE void kma_sc_unlist(const kma_sc_heap *sc, global kma_atomic_u32 *tree, uint page)
{
    for (bool took = false;; took = true) { // the second time even if it was put there: others may have taken it
        const uint word = kma_load_u32(kma_sc_page(sc, page), KMA_RELAXED);
        global kma_atomic_u32 *const belongs = kma_sc_tree_of(sc, word);
        if (!took && belongs == tree)
            return;
        if (belongs)
            kma_bit_tree_put(belongs, sc->plan.room, page);
        if (took || !kma_bit_tree_take(tree, sc->plan.room, page))
            return;
    }
}

#endif
