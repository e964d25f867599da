// The scatter heap: ScatterAlloc (Steinberger, Kenzel, Kainz, Schmalstieg: ScatterAlloc: Massively Parallel Dynamic
// Memory Allocation for the GPU, InPar 2012, chapters 5 and 6), without its locks.
//
// Memory is split into pages, a page into equal chunks for the first size that is asked for there. Who wants memory
// hashes his size and the place where he runs to a page, reserves chunks of it and looks for their bits; who finds the
// page full or split otherwise goes on to other pages. A page whose chunks are all free may be split anew.
//
//   scatter_layout.cl    the picture in memory, and the sizes of chunks
//   scatter_pages.cl     a page: reservations, bits, and how it becomes free
//   scatter_regions.cl   which pages have room
//   scatter_place.cl     where to begin
//   scatter_take.cl      the lanes
//   scatter_runs.cl      requests above a page
//   scatter_guard.cl     red zones and quarantine of KMA_DEBUG 2, in the middle of this file
//
// Other than in the paper: sizes are rounded up to classes; bits of pages with more than 32 chunks lie outside the pages,
// where nobody has to initialise them and no stray write meets them; regions know for which sizes they have room instead
// of how many of their pages are full; requests above a page may be served anywhere.
//
// What this heap cannot do: requests above one super block (NULL and a record); alignments above 4,096.
#ifndef KMA_HEAP_SCATTER_CL
#define KMA_HEAP_SCATTER_CL

#include "kma/heap/blocks.cl"
#include "kma/heap/error_log.cl"
#include "kma/heap/ref.cl"
#include "kma/heap/scatter_runs.cl"
#include "kma/heap/scatter_take.cl"
#if KMA_DEBUG >= 2
#include "kma/heap/guard.cl"
#endif

// Prepares a buffer of `bytes`, which may become `max_bytes` (`bytes` or less: it does not grow), with pages of 2^shift
// units and super blocks of 2^super_shift pages; the plan for them must have at least one page. Called by all work-items
// of one launch that nothing else overlaps. Touches the metadata only, those of pages to come too. `keep_log`: what
// remains is the error log.
static inline void kma_scatter_init(global kma_scatter *heap, ulong bytes, ulong max_bytes, uint shift, uint super_shift,
                                    bool keep_log, size_t me, size_t work_items)
{
    const kma_sc_plan plan = kma_sc_plan_growing(bytes, max_bytes, shift, super_shift, KMA_DEBUG);
    if (!keep_log)
        kma_error_log_init(&heap->header.errors, me, work_items);
    if (me == 0) {
        heap->plan = plan;
        kma_heap_header_init(&heap->header, KMA_KIND_SCATTER, bytes, max(bytes, max_bytes), plan.begin, plan.limit,
                             plan.guard);
    }
    global uchar *start = (global uchar *)heap;
    global kma_atomic_u32 *full = (global kma_atomic_u32 *)(start + (size_t)plan.full * KMA_UNIT);
    global kma_atomic_u32 *table = (global kma_atomic_u32 *)(start + (size_t)plan.table * KMA_UNIT);
    global kma_atomic_u32 *tree = (global kma_atomic_u32 *)(start + (size_t)plan.tree * KMA_UNIT);
    global kma_atomic_u32 *bitmaps = (global kma_atomic_u32 *)(start + (size_t)plan.bitmaps * KMA_UNIT);
    for (size_t i = me; i < KMA_SC_SIZES; i += work_items)
        heap->sizes[i] = kma_sc_size_of(min((uint)i, kma_sc_classes(shift) - 1), shift);
    kma_sc_places_init(heap, plan, me, work_items);
    for (size_t i = me; i < kma_sc_supers(plan.room, super_shift); i += work_items)
        kma_store_u32(&full[i], 0, KMA_RELAXED);
    for (size_t i = me; i < plan.room; i += work_items)
        kma_store_u32(&table[i], (i < plan.pages ? KMA_SC_FREE : 0) | kma_sc_word(KMA_SC_UNUSED, 0), KMA_RELAXED);
    const size_t nodes = plan.level[plan.levels - 1] + 1;
    for (size_t i = me; i < nodes; i += work_items)
        kma_store_u32(&tree[i], KMA_SC_FREE_PAGE, KMA_RELAXED);
    const size_t words = ((size_t)plan.room << shift) / 32;
    for (size_t i = me; i < words; i += work_items)
        kma_store_u32(&bitmaps[i], 0, KMA_RELAXED);
#if KMA_DEBUG >= 2
    kma_guard_init((global kma_guard *)(start + (size_t)plan.guard * KMA_UNIT), keep_log, me, work_items);
#endif
}

// Makes of a buffer of at least sizeof(kma_scatter) a heap without pages: every request is too large for it, every block
// foreign to it. Called as kma_scatter_init.
static inline void kma_scatter_init_empty(global kma_scatter *heap, ulong bytes, size_t me, size_t work_items)
{
    kma_error_log_init(&heap->header.errors, me, work_items);
    if (me != 0)
        return;
    const uint begin = (uint)kma_whole_units(sizeof(kma_scatter));
    ulong end;
    heap->plan = kma_sc_plan_of(0, KMA_SC_MIN_SHIFT, 0, 0, &end);
    heap->plan.begin = begin;
    heap->plan.limit = begin;
    kma_heap_header_init(&heap->header, KMA_KIND_SCATTER, bytes, bytes, begin, begin, 0);
}

// The heap's contents were copied into a buffer of `bytes`, this one, and the pages for which there is room now are free.
// Fewer bytes than before or more than max_bytes leave the heap as it was. By one work-group of a launch that nothing
// else overlaps; a barrier is in it.
static inline void kma_scatter_grow(global kma_scatter *heap, ulong bytes, size_t me, size_t work_items)
{
    kma_sc_heap sc = kma_sc_open(heap);
    const bool may = sc.plan.pages != 0 && bytes >= heap->header.bytes && bytes <= heap->header.max_bytes;
    const uint first = sc.plan.pages;
    if (may)
        sc.plan = kma_sc_plan_within(sc.plan, bytes);
    for (size_t page = first + me; page < sc.plan.pages; page += work_items) {
        kma_store_u32(kma_sc_page(&sc, (uint)page), KMA_SC_FREE | kma_sc_word(KMA_SC_UNUSED, 0), KMA_RELAXED);
        kma_sc_announce(&sc, (uint)page, KMA_SC_FREE_PAGE);
    }
    barrier(CLK_GLOBAL_MEM_FENCE); // all have read the old plan
    if (may && me == 0) {
        heap->plan = sc.plan;
        heap->header.bytes = bytes;
        heap->header.limit = sc.plan.limit;
    }
}

// What a request needs: a chunk of a size, or a run of pages.
typedef struct kma_sc_need {
    kma_sc_own own; // KMA_SC_CLASSES: no chunk
    uint align;     // in units
    uint pages;     // of a run, 0: none
} kma_sc_need;

// For `bytes` at a multiple of `align`: a chunk, a run, or neither for no bytes and, with a report, for what cannot be.
static inline kma_sc_need kma_scatter_need(const kma_sc_heap *sc, size_t align, size_t bytes)
{
    kma_sc_need need;
    need.own = kma_sc_own_of(sc, KMA_SC_CLASSES);
    need.align = 1;
    need.pages = 0;
    if (bytes == 0)
        return need;
    if (!kma_is_power_of_two(align) || align > KMA_SC_ALIGN) {
        kma_report(&sc->heap->header, KMA_ERROR_BAD_ALIGNMENT, KMA_NULL, align);
        return need;
    }
    const uint shift = sc->plan.shift;
    const ulong most = (ulong)min(1u << sc->plan.super_shift, sc->plan.room) << shift;
    ulong room = bytes;
#if KMA_DEBUG >= 2
    room = kma_guarded_bytes(align, bytes); // in which there is a place so aligned
    align = KMA_UNIT;
#endif
    if (room > most * KMA_UNIT) {
        kma_report(&sc->heap->header, KMA_ERROR_TOO_LARGE, KMA_NULL, bytes);
        return need;
    }
    const uint units = (uint)kma_whole_units(room);
    need.align = align <= KMA_UNIT ? 1 : (uint)align / KMA_UNIT;
    if (units > 1u << shift) {
        need.pages = ((units - 1) >> shift) + 1;
        return need;
    }
    uint size_class = kma_sc_class_of(max(units, need.align), shift);
    while (need.align != 1 && kma_sc_units(size_class, shift) % need.align != 0) // a whole page is a multiple
        size_class++;
    need.own = kma_sc_own_of(sc, size_class);
    return need;
}

// A place in the heap as its pages see it. `error` is KMA_ERROR_CODES if a block may start there, else what a free of it
// would be.
typedef struct kma_sc_spot_at {
    uint page;
    kma_sc_own own; // what the page is split for; KMA_SC_HEAD: a run begins here
    uint spot;
    uint error;
} kma_sc_spot_at;

static inline kma_sc_spot_at kma_scatter_place(const kma_sc_heap *sc, global void *ptr)
{
    kma_sc_spot_at place;
    place.page = place.spot = 0;
    place.own = kma_sc_own_of(sc, KMA_SC_CLASSES);
    place.error = KMA_ERROR_INVALID_FREE;
    const size_t offset = (size_t)ptr - (size_t)sc->heap; // of a pointer below the heap: huge
    if (offset % KMA_UNIT != 0 || offset / KMA_UNIT < sc->plan.begin || offset / KMA_UNIT >= sc->plan.limit)
        return place;
    const uint unit = (uint)(offset / KMA_UNIT) - sc->plan.begin;
    const uint within = unit & ((1u << sc->plan.shift) - 1);
    place.page = unit >> sc->plan.shift;
    const uint word = kma_load_u32(kma_sc_page(sc, place.page), KMA_RELAXED);
    const uint split = kma_sc_split(word);
    bool is_start = split == KMA_SC_HEAD && within == 0;
    if (split < KMA_SC_CLASSES) {
        place.own = kma_sc_own_of(sc, split);
        const kma_sc_quotient spot = kma_sc_divide(within, place.own.size.units, place.own.size.by_units);
        place.spot = spot.whole;
        is_start = spot.rest == 0 && place.spot < place.own.size.spots;
    } else {
        place.own.size_class = split;
    }
    if (is_start)
        place.error = word & KMA_SC_FREE ? KMA_ERROR_DOUBLE_FREE : KMA_ERROR_CODES;
    return place;
}

// Whether the heap gave somebody the block at a place without error.
static inline bool kma_sc_is_taken(const kma_sc_heap *sc, kma_sc_spot_at place)
{
    global kma_atomic_u32 *const bitmap = kma_sc_bitmap(sc, place.page);
    return place.own.size_class == KMA_SC_HEAD ? kma_load_u32(bitmap, KMA_RELAXED) != 0
                                                : kma_sc_is_set(bitmap, place.spot);
}

// Clears the bits of chunks that the lanes of the group free (`is_chunk`; the others have none): one atomic for those
// whose bits are in one word. Whether mine was set, and it is I who cleared it.
static inline bool kma_sc_clear(const kma_sc_heap *sc, kma_lanes group, kma_sc_spot_at place, bool is_chunk)
{
    const uint words_shift = sc->plan.shift - 5;
    const uint bit = is_chunk ? 1u << (place.spot % 32) : 0;
    const uint number = (place.page << words_shift) + place.spot / 32;
    const kma_lanes together = kma_lanes_match(group, is_chunk ? number : 0xffffffffu, 32);
    const uint all = kma_lanes_or(together, bit);
    kma_lanes_sync(together); // the leader's release stands for them all
    global kma_atomic_u32 *const word = kma_sc_bitmap(sc, place.page) + place.spot / 32;
    if ((uint)popcount(all) != kma_lanes_count(together)) // two free the same block
        return is_chunk && kma_sc_clear_bits(word, bit) != 0;
    uint cleared = 0;
    if (kma_lane_leads(together))
        cleared = kma_sc_clear_bits(word, all);
    return (kma_lanes_first(together, cleared) & bit) != 0;
}

// Gives back the reservations of chunks whose bits the lanes of the group cleared (`was_mine`): one atomic for those in
// one page. The bits first, the count then: who has a reservation shall find a clear bit.
static inline void kma_sc_settle(const kma_sc_heap *sc, kma_lanes group, kma_sc_spot_at place, bool was_mine)
{
    const kma_lanes together = kma_lanes_match(group, was_mine ? place.page : 0xffffffffu, 32);
    kma_lanes_sync(group); // the leader's giving back comes after all their bits
    if (was_mine && kma_lane_leads(together) && kma_sc_give(sc, place.own, place.page, kma_lanes_count(together)))
        kma_sc_reactivate(sc, place.page);
}

// Takes back what the heap gave at `ptr`, the start of a block. A record if it is none, or free already.
static inline void kma_scatter_release(global kma_scatter *heap, global void *ptr)
{
    const kma_sc_heap sc = kma_sc_open(heap);
    kma_sc_spot_at place = kma_scatter_place(&sc, ptr);
    const bool is_run = place.own.size_class == KMA_SC_HEAD;
    const bool is_chunk = place.error == KMA_ERROR_CODES && !is_run;
    bool was_mine = false;
    const kma_lanes group = kma_lanes_alike(kma_lanes_active(), (ulong)heap);
    if (kma_lane_in(group)) {
        was_mine = kma_sc_clear(&sc, group, place, is_chunk);
        kma_sc_settle(&sc, group, place, was_mine);
    } else if (is_chunk) {
        was_mine = kma_sc_clear_bits(kma_sc_bitmap(&sc, place.page) + place.spot / 32, 1u << (place.spot % 32)) != 0;
        if (was_mine && kma_sc_give(&sc, place.own, place.page, 1))
            kma_sc_reactivate(&sc, place.page);
    }
    if (is_run && place.error == KMA_ERROR_CODES)
        was_mine = kma_sc_give_run(&sc, place.page);
    if (place.error == KMA_ERROR_CODES && !was_mine)
        place.error = KMA_ERROR_DOUBLE_FREE;
    if (place.error != KMA_ERROR_CODES)
        kma_report(&heap->header, place.error, kma_wrong_ref(&heap->header, ptr), 0);
}

#if KMA_DEBUG >= 2
#include "kma/heap/scatter_guard.cl" // needs the above
#endif

// `bytes` of memory at an offset from the heap's start that is a multiple of `align`, contents undefined; NULL for 0
// bytes, or with a record if there is no room, `bytes` exceeds a super block, or `align` is not a power of two up to
// 4,096. Alignments below 16 are 16; above CL_DEVICE_MEM_BASE_ADDR_ALIGN only the offset is aligned, since the buffer
// itself may not be. Any work-item, converged or not; for all lanes that come together and want the same class, one
// atomic for where to begin, one for each page that they get chunks of, and one for each 32 of its bits.
static inline global void *kma_scatter_aligned_alloc(global kma_scatter *heap, size_t align, size_t bytes)
{
#if KMA_DEBUG
    if (!kma_heap_is(heap, KMA_KIND_SCATTER))
        return (global void *)0;
#endif
    const kma_sc_heap sc = kma_sc_open(heap);
    const kma_sc_need need = kma_scatter_need(&sc, align, bytes);
    const bool wants = need.own.size_class < KMA_SC_CLASSES || need.pages != 0;
    const kma_lanes together = kma_lanes_alike(kma_lanes_active(), (ulong)heap);
    kma_ref block = KMA_NULL;
    // With a quarantine larger chunks serve only after that is empty.
    const uint widest = KMA_DEBUG >= 2 ? KMA_SC_EXACT : KMA_SC_ANY;
    if (kma_lane_in(together))
        block = kma_sc_take(&sc, together, need.own, need.align, widest);
    else if (need.own.size_class < KMA_SC_CLASSES) // of another heap than the leader's
        block = kma_sc_take_alone(&sc, need.own, need.align, widest);
    if (need.pages != 0)
        block = kma_sc_take_run(&sc, need.pages);
#if KMA_DEBUG >= 2
    for (uint tries = 3; block == KMA_NULL && wants && tries != 0; tries--) {
        kma_scatter_empty_quarantine(heap); // what others took out before me they may be about to free: not once only
        block = need.pages != 0 ? kma_sc_take_run(&sc, need.pages)
                                : kma_sc_take_alone(&sc, need.own, need.align, tries == 1 ? KMA_SC_ANY : KMA_SC_EXACT);
    }
    if (block != KMA_NULL && block != KMA_SC_DAMAGED)
        block = kma_guard_open(&heap->header, block, align <= KMA_UNIT ? 1 : (uint)align / KMA_UNIT, bytes);
#endif
    if (block != KMA_NULL && block != KMA_SC_DAMAGED)
        return kma_deref_in(heap, block);
    if (wants)
        kma_report(&heap->header, block == KMA_NULL ? KMA_ERROR_OUT_OF_MEMORY : KMA_ERROR_DAMAGED, KMA_NULL, bytes);
    return (global void *)0;
}

// kma_scatter_aligned_alloc to 16 bytes.
static inline global void *kma_scatter_malloc(global kma_scatter *heap, size_t bytes)
{
    return kma_scatter_aligned_alloc(heap, KMA_UNIT, bytes);
}

// `count` objects of `size` bytes, all zero; NULL as malloc, also when count * size overflows.
static inline global void *kma_scatter_calloc(global kma_scatter *heap, size_t count, size_t size)
{
    const ulong bytes = kma_mul_sat(count, size); // the largest number if it overflows, which no heap can serve
    global void *ptr = bytes <= ~(size_t)0 ? kma_scatter_malloc(heap, (size_t)bytes) : (global void *)0;
    if (ptr)
        kma_zero_block(ptr, bytes);
    return ptr;
}

// Ends a block's life; NULL is allowed. Any work-item of the same or a later kernel, converged or not. A pointer that
// is no block start, or whose block is free already, goes into the error log and nothing else happens. One atomic on
// the block's bit for each, and one on the count for all lanes that come together with blocks of one page.
static inline void kma_scatter_free(global kma_scatter *heap, global void *ptr)
{
#if KMA_DEBUG
    if (ptr && !kma_heap_is(heap, KMA_KIND_SCATTER))
        return;
#endif
    if (!ptr)
        return;
#if KMA_DEBUG >= 2
    kma_scatter_retire(heap, ptr);
#else
    kma_scatter_release(heap, ptr);
#endif
}

// The bytes that a block of this heap may use, at least those asked for; 0 for what is no living block.
static inline size_t kma_scatter_usable_size(global kma_scatter *heap, global void *ptr)
{
#if KMA_DEBUG
    if (!ptr || !kma_heap_is(heap, KMA_KIND_SCATTER))
        return 0;
#endif
#if KMA_DEBUG >= 2
    const kma_ref ref = kma_scatter_living(heap, ptr);
    return ref != KMA_NULL ? (size_t)kma_guard_block_of(&heap->header, ref)->bytes : 0;
#else
    const kma_sc_heap sc = kma_sc_open(heap);
    const kma_sc_spot_at place = kma_scatter_place(&sc, ptr);
    if (place.error != KMA_ERROR_CODES || !kma_sc_is_taken(&sc, place))
        return 0;
    if (place.own.size_class == KMA_SC_HEAD)
        return ((size_t)kma_load_u32(kma_sc_bitmap(&sc, place.page), KMA_RELAXED) << sc.plan.shift) * KMA_UNIT;
    return (size_t)place.own.size.units * KMA_UNIT;
#endif
}

// Gives a block the size `bytes`: in place as long as its class has room for them, else the contents move to a new
// block. NULL leaves the old block as it is, except bytes = 0, which frees it. A NULL `ptr` makes it malloc. A pointer
// that is no living block gives NULL and a record.
static inline global void *kma_scatter_realloc(global kma_scatter *heap, global void *ptr, size_t bytes)
{
#if KMA_DEBUG
    if (!kma_heap_is(heap, KMA_KIND_SCATTER))
        return (global void *)0;
#endif
    const size_t usable = ptr ? kma_scatter_usable_size(heap, ptr) : 0;
    if (ptr && usable == 0) {
        kma_report(&heap->header, KMA_ERROR_INVALID_FREE, kma_wrong_ref(&heap->header, ptr), bytes);
        return (global void *)0;
    }
    if (bytes != 0 && bytes <= usable) {
#if KMA_DEBUG >= 2
        kma_guard_resize(&heap->header, kma_ref_in(heap, ptr), bytes);
#endif
        return ptr;
    }
    global void *moved = kma_scatter_malloc(heap, bytes);
    if (ptr && moved)
        kma_copy_block(moved, ptr, usable);
    if (moved || bytes == 0)
        kma_scatter_free(heap, ptr);
    return moved;
}

// The same, for programs that run on heaps which do not know their blocks' sizes as well.
static inline global void *kma_scatter_realloc_sized(global kma_scatter *heap, global void *ptr, size_t old_bytes,
                                                        size_t bytes)
{
    (void)old_bytes;
    return kma_scatter_realloc(heap, ptr, bytes);
}

static inline kma_ref kma_scatter_ref_of(global kma_scatter *heap, global void *place)
{
    return kma_ref_in(heap, place);
}

static inline global void *kma_scatter_deref(global kma_scatter *heap, kma_ref ref)
{
    return kma_deref_in(heap, ref);
}

#if KMA_DEBUG >= 3
#define kma_scatter_malloc(heap, bytes) kma_guard_tagged(kma_scatter_malloc(heap, bytes), __FILE__, __LINE__)
#define kma_scatter_calloc(heap, count, size)                                                                       \
    kma_guard_tagged(kma_scatter_calloc(heap, count, size), __FILE__, __LINE__)
#define kma_scatter_aligned_alloc(heap, align, bytes)                                                               \
    kma_guard_tagged(kma_scatter_aligned_alloc(heap, align, bytes), __FILE__, __LINE__)
#define kma_scatter_realloc(heap, ptr, bytes)                                                                       \
    kma_guard_tagged(kma_scatter_realloc(heap, ptr, bytes), __FILE__, __LINE__)
#define kma_scatter_realloc_sized(heap, ptr, old_bytes, bytes)                                                      \
    kma_guard_tagged(kma_scatter_realloc_sized(heap, ptr, old_bytes, bytes), __FILE__, __LINE__)
#endif

#endif
