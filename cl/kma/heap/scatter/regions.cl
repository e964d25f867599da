// Which pages of a scatter heap have free blocks (ScatterAlloc, 5.4, "meta data").
//
// The paper counts the full pages of a group of pages. A count does not say whether a page that is
// not full fits the request: a request that nothing fits looks at each page. Here bit trees
// (lockfree/bit_tree.cl) over all pages say it; a request that finds nothing costs the same at
// every size of the heap.
//
//   free pages   has every page that is free
//   list of c    has every page that is split for class c and has a block that is not reserved
//
// or another work-item is about to put the page there. A tree may have other pages, too: a
// work-item that meets one takes it out.
//
//   step                        page's word                then the trees
//   a free page is split        free -> class c, not full  into list c; out of the free pages; out
//                                                          of its former class's list, if another
//   a page becomes full         count reaches the blocks   out of list c
//   a full page has a free      count falls below the      into list c
//   block again                 blocks
//   a page becomes free         class c -> free            into the free pages. It stays in list c:
//                                                          requests of c usually take it again
//   pages become a run          free -> run                first out of the free pages
//                                                          (scatter/runs.cl); then out of their
//                                                          former classes' lists
//
// Two work-items may do this to one page at a time, in any order, and the page may take several
// steps between two of one of them. Why they cannot miss each other:
//
// 1. A work-item that puts a page in changes the page's word first, then puts it in by a
//    read-modify-write (release), even if it is there.
// 2. A work-item that takes a page out (acquire) looks at the page's word afterwards, and puts the
//    page back if it belongs there.
// 3. If the put came before the removal, the second look sees its reason; else the page is in the
//    tree.
//
// A page that is split goes into its list before it leaves the free pages: a search through both
// finds it in one of them.
#ifndef KMA_HEAP_SCATTER_REGIONS_CL
#define KMA_HEAP_SCATTER_REGIONS_CL

#include "kma/platform/bits.cl"
#include "kma/platform/memory.cl"
#include "kma/lockfree/bit_tree.cl"
#include "kma/heap/scatter/layout.cl"

// A heap and a copy of its plan, read before the first atomic: an acquire may empty the cache.
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

// The words at an offset in units.
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

// True if a page is split for the class and has a block that is not reserved. Relaxed.
static inline bool kma_scatter_serves(const kma_scatter_heap *sc, uint page, uint size_class)
{
    const uint word = kma_load_u32(kma_scatter_page(sc, page), KMA_RELAXED);
    return kma_scatter_split(word) == size_class && kma_scatter_has_room(word, sc->plan.shift);
}

// Takes a page out of the list of a class unless it has a free block of it; checks again
// afterwards.
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

// Takes a page out of the tree of free pages unless it is free; checks again afterwards.
static inline KMA_OUTLINE void kma_scatter_leave(const kma_scatter_heap *sc, uint page)
{
    global kma_atomic_u32 *const tree = kma_scatter_free_pages(sc);
    if (!kma_scatter_is_free(sc, page) && kma_bit_tree_take(tree, sc->plan.room, page) &&
        kma_scatter_is_free(sc, page))
        kma_bit_tree_put(tree, sc->plan.room, page);
}

// Puts a page into the list of a class, after the caller made a free block there; takes it out
// again if other lanes filled it meanwhile: they found nothing to take out.
static inline void kma_scatter_list(const kma_scatter_heap *sc, uint size_class, uint page)
{
    kma_bit_tree_put(kma_scatter_list_of(sc, size_class), sc->plan.room, page);
    kma_scatter_unlist(sc, size_class, page);
}

// Puts a page that the caller has made free into the tree of free pages; takes it out again if
// another lane split it meanwhile.
static inline void kma_scatter_enter(const kma_scatter_heap *sc, uint page)
{
    kma_bit_tree_put(kma_scatter_free_pages(sc), sc->plan.room, page);
    kma_scatter_leave(sc, page);
}

// Takes a page out of the list of its former class, by its word while it was free, `before`.
static inline void kma_scatter_unlist_former(const kma_scatter_heap *sc, uint before, uint page)
{
    if (kma_scatter_split(before) < KMA_SCATTER_CLASSES)
        kma_scatter_unlist(sc, kma_scatter_split(before), page);
}

#endif
