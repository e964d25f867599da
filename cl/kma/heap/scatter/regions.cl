// Which pages of a scatter heap have room (ScatterAlloc, 5.4, "meta data").
//
// The paper counts the full pages of a region. A count does not tell whether what is not full would
// do, so that a request that nothing fits any more has to look at each page. Here a region, 32
// pages, has a bit for each page in each of several trees (lockfree/bit_tree.cl), whose upper words
// stand for 32 regions, and so on up to the whole heap:
//
//   free pages   a page that is free is in it
//   of class c   a page that is split for c and has a chunk that nobody reserved is in it: the list of c
//
// or another work-item is about to put it there. The reverse need not hold: a work-item that meets
// a page where it does not belong takes it out. Each step of a page costs a bounded number of
// atomics here, and no list keeps pages that are of no use to its class: what a request costs that
// finds nothing does not depend on the heap's size.
//
//   step                        word of the page                then the trees
//   a free page is split        free -> class c, with room      into list c; out of the free pages; out of the list of
//                                                               the class that it had before, if
//                                                               that was another
//   a page becomes full         count reaches the chunks        out of list c
//   a full page has room again  count falls below the chunks    into list c
//   a page becomes free         class c -> free                 into the free pages. It stays in list c, for it serves
//                                                               c as before, and is split for c
//                                                               again as a rule
//   pages become a run          free -> run                     out of the free pages first, see scatter/runs.cl; out of
//                                                               the lists of the classes that they
//                                                               had before
//
// Two may do that to one page at a time, in any order, and the page may take several steps between
// two of one of them. So
//   a work-item that puts in    changes the word first, then puts the page in, by a read-modify-write even if it is there;
//   a work-item that takes out  looks at the page's word again afterwards, and puts the page back if it belongs there now.
// Putting in releases and taking out acquires: if the page was put in before it was taken out, the
// second look sees why; else it is in now. A page that is split goes into its list before it leaves
// the free pages, lest a search through both finds it in neither.
#ifndef KMA_HEAP_SCATTER_REGIONS_CL
#define KMA_HEAP_SCATTER_REGIONS_CL

#include "kma/platform/bits.cl"
#include "kma/platform/memory.cl"
#include "kma/lockfree/bit_tree.cl"
#include "kma/heap/scatter/layout.cl"

// A heap, and its plan as it was read before the first atomic: an acquire may empty the cache.
typedef struct kma_scatter_heap {
    global kma_scatter *heap;
    kma_scatter_plan plan;
} kma_scatter_heap;

static inline kma_scatter_heap kma_scatter_open(global kma_scatter *heap)
{
    kma_scatter_heap sc;
    sc.heap = heap;
    sc.plan = heap->plan;
    return sc;
}

// The words that begin at a unit of the heap.
static inline global kma_atomic_u32 *kma_scatter_words(global kma_scatter *heap, uint unit)
{
    return (global kma_atomic_u32 *)((global uchar *)heap + (size_t)unit * KMA_UNIT);
}

static inline global kma_atomic_u32 *kma_scatter_page(const kma_scatter_heap *sc, uint page)
{
    return kma_scatter_words(sc->heap, sc->plan.table) + page;
}

static inline global kma_atomic_u32 *kma_scatter_free_pages(const kma_scatter_heap *sc)
{
    return kma_scatter_words(sc->heap, sc->plan.trees);
}

static inline global kma_atomic_u32 *kma_scatter_list_of(const kma_scatter_heap *sc,
                                                         uint size_class)
{
    return kma_scatter_free_pages(sc) + (size_t)sc->plan.tree_words * (size_class + 1);
}

// Whether a page has room for a class.
static inline bool kma_scatter_serves(const kma_scatter_heap *sc, uint page, uint size_class)
{
    const uint word = kma_load_u32(kma_scatter_page(sc, page), KMA_RELAXED);
    return kma_scatter_split(word) == size_class && kma_scatter_has_room(word, sc->plan.shift);
}

// Takes a page out of the list of a class if it has no room for that.
static inline KMA_OUTLINE void kma_scatter_unlist(const kma_scatter_heap *sc, uint size_class,
                                                  uint page)
{
    global kma_atomic_u32 *const list = kma_scatter_list_of(sc, size_class);
    if (!kma_scatter_serves(sc, page, size_class) && kma_bit_tree_has(list, page) &&
        kma_bit_tree_take(list, sc->plan.room, page) && kma_scatter_serves(sc, page, size_class))
        kma_bit_tree_put(list, sc->plan.room, page);
}

static inline bool kma_scatter_is_free(const kma_scatter_heap *sc, uint page)
{
    return (kma_load_u32(kma_scatter_page(sc, page), KMA_RELAXED) & KMA_SCATTER_FREE) != 0;
}

// Takes a page out of the tree of free pages if it is not free.
static inline KMA_OUTLINE void kma_scatter_leave(const kma_scatter_heap *sc, uint page)
{
    global kma_atomic_u32 *const tree = kma_scatter_free_pages(sc);
    if (!kma_scatter_is_free(sc, page) && kma_bit_tree_take(tree, sc->plan.room, page) &&
        kma_scatter_is_free(sc, page))
        kma_bit_tree_put(tree, sc->plan.room, page);
}

// Puts a page into the list of a class, for which the caller has just made room there; out again if
// others filled it meanwhile, and found nothing to take out.
static inline void kma_scatter_list(const kma_scatter_heap *sc, uint size_class, uint page)
{
    kma_bit_tree_put(kma_scatter_list_of(sc, size_class), sc->plan.room, page);
    kma_scatter_unlist(sc, size_class, page);
}

// Puts a page that the caller has just made free into the tree of free pages; out again if others
// split it meanwhile.
static inline void kma_scatter_enter(const kma_scatter_heap *sc, uint page)
{
    kma_bit_tree_put(kma_scatter_free_pages(sc), sc->plan.room, page);
    kma_scatter_leave(sc, page);
}

// Takes a page that was free with the word `before`, and is not now, out of the list of the class
// that it had.
static inline void kma_scatter_unlist_former(const kma_scatter_heap *sc, uint before, uint page)
{
    if (kma_scatter_split(before) < KMA_SCATTER_CLASSES)
        kma_scatter_unlist(sc, kma_scatter_split(before), page);
}

#endif
