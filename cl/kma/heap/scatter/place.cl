// Where a request begins its search for a page (ScatterAlloc, 5.3 and 5.4).
//
// The paper hashes size S and multiprocessor mp to page (S kS + mp kmp) mod SP of the active super
// block, and goes on from page to page past all that are full. Here a cursor for each pair of size
// and shard counts the blocks that the pair requested. Its value is a request's number; requests
// with near numbers get one page. Formula (3) of the paper selects it, with a third term for the
// pages n that the pair had before:
//
//   page (4 (S kS + mp kmp + n kn) + class of S mod 4) mod pages of the region,
//   kn odd and different for sizes and shards
//
// Classes that differ modulo 4 do not share a page. Two pairs that meet in a page differ in kn:
// their next pages differ. After a quarter of the region's pages a pair goes on in the next region.
// The shards' first active regions are far apart.
//
// Cursors and active regions are hints: any value is valid. A request that finds no free block
// there asks the trees of scatter/regions.cl for a page near there.
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

// log2 of the parts of a region, every fourth page each: a shard's classes alternate between them.
#define KMA_SCATTER_PARTS_SHIFT 2u

// The rate at which frees into full pages suggest their region to the shard: 1 /
// KMA_SCATTER_REACTIVATE for an empty region, less the fuller it is.
#define KMA_SCATTER_REACTIVATE 16u

// kn. Odd: n then goes through all pages of a power of two.
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

// The page for a pair of size and shard that had `turn` pages before; `active` is the shard's
// region.
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
    // the last region may be shorter
    return page < sc->plan.pages ? page : page % sc->plan.pages;
}

static inline bool kma_scatter_is_nearly_full(const kma_scatter_heap *sc, uint page)
{
    return kma_load_u32(kma_scatter_full(sc, page), KMA_RELAXED) * 4 >=
           kma_scatter_super_pages(sc, page) * 3;
}

// After the caller found no free block near `page`: if three of four pages of that region are full,
// the shard's active region moves on. Relaxed: a hint.
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

// Initializes active regions and cursors.
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

// After a free into a full page: makes that page's region the next one of the caller's shard, by
// chance, the likelier the emptier the region is. Relaxed: a hint.
static inline void kma_scatter_reactivate(const kma_scatter_heap *sc, uint page)
{
    const uint pages = kma_scatter_super_pages(sc, page);
    const uint full = min(kma_load_u32(kma_scatter_full(sc, page), KMA_RELAXED), pages);
    if (kma_mix32(page ^ kma_mix32(full)) % (KMA_SCATTER_REACTIVATE * pages) < pages - full)
        kma_store_u32(&sc->heap->emptier[kma_place() % sc->plan.places],
                      page >> sc->plan.super_shift, KMA_RELAXED);
}

#endif
