// Which pages of a scatter heap have room (ScatterAlloc, 5.4, "meta data").
//
// The paper counts the full pages of a region. A count does not tell whether what is not full would do, so that a
// request that nothing fits any more has to look at each page. Here a region, 32 pages, has a bit for each page in each
// of several trees (lockfree/bit_tree.cl), whose upper words stand for 32 regions, and so on up to the whole heap:
//
//   free pages   a page that is free is in it, and so is one that is split and not KMA_SC_OUT
//   of class c   a page that is split for c, KMA_SC_OUT, and has a chunk that nobody reserved, is in it
//
// or somebody is about to put it there. The reverse need not hold: who meets a page where it does not belong takes it
// out.
//
// So a page that is split, filled, emptied and free again may stay in the tree of free pages all the time, and costs no
// atomic there, until somebody meets it who has no use for it, because it is full or split for another size: he sends
// it out. Who fills a page may do so himself (kma_sc_goes_out), lest a single one who comes late has to send out many.
// Only those who look around put pages into lists: when much is freed at once most pages have room for a moment only,
// until they are free, and in the sparse tree of a list each put and each take goes up to its root.
//
// Those who might miss each other:
//   who makes a page free      takes KMA_SC_OUT off by the same compare-and-swap; if it was set, he puts the page in the
//                              tree of free pages;
//   who makes room in a full   sees KMA_SC_OUT by the same subtraction; if it is set, he takes it off, then puts the page
//   page                       in that tree, too;
//   who sends a page out       sets KMA_SC_OUT by a compare-and-swap, and if the page had room then puts it in its list;
//                              then he takes it out of the tree of free pages and looks at its word once more: if that
//                              is not KMA_SC_OUT any more, he puts it back;
//   who fills a page that is   takes it out of its list, then looks at its word once more: if there is room now, he puts
//   KMA_SC_OUT, or meets it    it back.
//   there without room
//
// Who puts in releases, who takes out acquires: if the page was put in before it was taken out, the second look sees
// why; else it is in now. Who sends a page out puts it into its list before he takes it out of the tree, lest who looks
// through both meanwhile finds it in neither.
//
// So a full heap is known by a few words, and nobody walks past pages that are full but once.
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

// Whether a page has room for a class.
static inline bool kma_sc_serves(const kma_sc_heap *sc, uint page, uint size_class)
{
    const uint word = kma_load_u32(kma_sc_page(sc, page), KMA_RELAXED);
    return kma_sc_split(word) == size_class && kma_sc_has_room(word, sc->plan.shift);
}

// Takes a page out of the list of a class if it has no room for that.
static inline KMA_OUTLINE void kma_sc_unlist(const kma_sc_heap *sc, uint size_class, uint page)
{
    global kma_atomic_u32 *const list = kma_sc_list_of(sc, size_class);
    if (!kma_sc_serves(sc, page, size_class) && kma_bit_tree_take(list, sc->plan.room, page) &&
        kma_sc_serves(sc, page, size_class))
        kma_bit_tree_put(list, sc->plan.room, page);
}

// Takes a page out of the tree of free pages, whose word the caller saw to be that of one that does not belong there.
static inline void kma_sc_leave(const kma_sc_heap *sc, uint page)
{
    global kma_atomic_u32 *const tree = kma_sc_free_pages(sc);
    if (kma_bit_tree_take(tree, sc->plan.room, page) && kma_sc_stays(kma_load_u32(kma_sc_page(sc, page), KMA_RELAXED)))
        kma_bit_tree_put(tree, sc->plan.room, page);
}

// Takes a page out of the tree of free pages if it is not free; `word` was the page's.
static inline KMA_OUTLINE void kma_sc_send_out(const kma_sc_heap *sc, uint page, uint word)
{
    while ((word & KMA_SC_FREE) == 0 && kma_sc_stays(word)) { // once more only if a reservation came, or went
        const uint seen = kma_cas_u32(kma_sc_page(sc, page), word, word | KMA_SC_OUT, KMA_RELAXED);
        if (seen == word && kma_sc_has_room(word, sc->plan.shift))
            kma_bit_tree_put(kma_sc_list_of(sc, kma_sc_split(word)), sc->plan.room, page);
        word = seen == word ? word | KMA_SC_OUT : seen;
    }
    if ((word & KMA_SC_FREE) == 0)
        kma_sc_leave(sc, page);
}

#endif
