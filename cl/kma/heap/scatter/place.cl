// Where a request begins to look for a page (ScatterAlloc, 5.3 and 5.4).
//
// The paper hashes size S and place mp to page (S kS + mp kmp) mod SP of the active super block,
// and goes on from page to page, so that everybody walks past all that is full. Here each pair of
// size and place counts the chunks that it asked for; so a request has a number, and requests with
// near numbers go to one page. Formula (3) chooses it, with a third term for how many pages that
// pair had before:
//
//   page (4 (S kS + mp kmp + n kn) + class of S mod 4) mod pages of the super block,
//   kn odd and different for sizes and places
//
// So sizes next to each other never meet, and who meets another in a page parts from him again.
// When n has gone through a quarter of the pages, it goes on in the next super block. Each place
// has an active one to begin with, as far from those of others as there are super blocks.
//
// Counters and active super blocks are hints: any value would be right. Who finds no room where
// they lead asks the trees of scatter/regions.cl for a page near there.
#ifndef KMA_HEAP_SCATTER_PLACE_CL
#define KMA_HEAP_SCATTER_PLACE_CL

#include "kma/platform/bits.cl"
#include "kma/platform/memory.cl"
#include "kma/platform/place.cl"
#include "kma/heap/scatter/layout.cl"
#include "kma/heap/scatter/pages.cl"

// The paper's factors (8, "Results").
#ifndef KMA_SCATTER_SIZE_FACTOR
#define KMA_SCATTER_SIZE_FACTOR 38183u
#endif
#ifndef KMA_SCATTER_PLACE_FACTOR
#define KMA_SCATTER_PLACE_FACTOR 17497u
#endif

// log2 of the parts of a super block, every fourth page each, in which a place has different sizes.
#define KMA_SCATTER_PARTS_SHIFT 2u

// A free into a full page suggests that page's super block to its place once in so many times if
// that is nearly empty, and the more seldom the fuller it is.
#define KMA_SCATTER_REACTIVATE 16u

// kn; odd, so that all of a power of two come in turn.
static inline uint kma_scatter_turn_factor(uint place, uint size_class)
{
    return 2 * (place * KMA_SCATTER_SIZES + size_class) * KMA_SCATTER_SIZE_FACTOR + 1;
}

static inline global kma_atomic_u32 *kma_scatter_cursor(const kma_scatter_heap *sc, uint place,
                                                   uint size_class)
{
    return kma_scatter_words(sc->heap, sc->plan.cursors) +
           (place % sc->plan.places) * KMA_SCATTER_SIZES + size_class;
}

static inline global kma_atomic_u32 *kma_scatter_active(const kma_scatter_heap *sc, uint place)
{
    return &sc->heap->active[place % sc->plan.places];
}

// The page for a pair of size and place that has gone through `turn` pages before, the place's
// active super block being `active`.
static inline uint kma_scatter_hash(const kma_scatter_heap *sc, kma_scatter_own own, uint place,
                                    uint active, uint turn)
{
    const uint shift = sc->plan.super_shift;
    const uint parts_shift = min(KMA_SCATTER_PARTS_SHIFT, shift);
    const uint sum = own.size.units * KMA_UNIT * KMA_SCATTER_SIZE_FACTOR +
                     place * KMA_SCATTER_PLACE_FACTOR +
                     turn * kma_scatter_turn_factor(place, own.size_class);
    uint super = active + (turn >> (shift - parts_shift));
    if (super >= sc->plan.supers)
        super %= sc->plan.supers;
    const uint within = sum << parts_shift | (own.size_class & ((1u << parts_shift) - 1));
    const uint page = (super << shift) + (within & ((1u << shift) - 1));
    // the last super block may be shorter
    return page < sc->plan.pages ? page : page % sc->plan.pages;
}

static inline bool kma_scatter_is_nearly_full(const kma_scatter_heap *sc, uint page)
{
    return kma_load_u32(kma_scatter_full(sc, page), KMA_RELAXED) * 4 >=
           kma_scatter_super_pages(sc, page) * 3;
}

// The caller found no room where it was led to, and looks on from `page`. If three of four pages of
// that super block are full, the place goes on in another one.
static inline void kma_scatter_move_on(const kma_scatter_heap *sc, uint place, uint page)
{
    if (!kma_scatter_is_nearly_full(sc, page))
        return;
    const uint super = page >> sc->plan.super_shift;
    const uint emptier =
        kma_load_u32(&sc->heap->emptier[place % sc->plan.places], KMA_RELAXED) % sc->plan.supers;
    const uint active = kma_load_u32(kma_scatter_active(sc, place), KMA_RELAXED);
    const uint next =
        kma_scatter_is_nearly_full(sc, emptier << sc->plan.super_shift) ? super + 1 : emptier;
    kma_store_u32(kma_scatter_active(sc, place),
                  (active + next + sc->plan.supers - super) % sc->plan.supers, KMA_RELAXED);
}

// What a heap begins with.
static inline void kma_scatter_places_init(global kma_scatter *heap, kma_scatter_plan plan,
                                           size_t me, size_t work_items)
{
    for (size_t i = me; i < KMA_SCATTER_PLACES; i += work_items) {
        const uint super = (uint)((ulong)i % plan.places * plan.supers / plan.places);
        kma_store_u32(&heap->active[i], super, KMA_RELAXED);
        kma_store_u32(&heap->emptier[i], super, KMA_RELAXED);
    }
    global kma_atomic_u32 *cursors = kma_scatter_words(heap, plan.cursors);
    for (size_t i = me; i < (size_t)plan.places * KMA_SCATTER_SIZES; i += work_items)
        kma_store_u32(&cursors[i], 0, KMA_RELAXED);
    if (me == 0)
        kma_store_u32(&heap->next_run, plan.supers / 2 << plan.super_shift, KMA_RELAXED);
}

// The calling place freed a chunk of a page that was full until then: by chance, the rather the
// emptier the page's super block is, that is where the place goes on when its active one is nearly
// full.
static inline void kma_scatter_reactivate(const kma_scatter_heap *sc, uint page)
{
    const uint pages = kma_scatter_super_pages(sc, page);
    const uint full = min(kma_load_u32(kma_scatter_full(sc, page), KMA_RELAXED), pages);
    if (kma_mix32(page ^ kma_mix32(full)) % (KMA_SCATTER_REACTIVATE * pages) < pages - full)
        kma_store_u32(&sc->heap->emptier[kma_place() % sc->plan.places],
                      page >> sc->plan.super_shift, KMA_RELAXED);
}

#endif
