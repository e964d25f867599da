// Makes a buffer a scatter heap, and a heap larger. No other kernel may use the buffer meanwhile.
#ifndef KMA_HEAP_SCATTER_INIT_CL
#define KMA_HEAP_SCATTER_INIT_CL

#include "kma/heap/common/error_log.cl"
#include "kma/heap/common/guard.cl"
#include "kma/heap/scatter/place.cl"

// Makes a heap of a buffer of `bytes` that may grow to `max_bytes` (no growth if that is not more),
// with pages of 2^shift units and regions of 2^super_shift pages. The plan must have at least one
// page. Called by all work-items of one launch. Writes metadata only, also that of pages to come.
// `keep_log`: leaves the error log as it is.
static inline void kma_scatter_init(global kma_scatter *heap, ulong bytes, ulong max_bytes,
                                    uint shift, uint super_shift, bool keep_log, size_t me,
                                    size_t work_items)
{
    const kma_scatter_plan plan =
        kma_scatter_plan_growing(bytes, max_bytes, shift, super_shift, KMA_DEBUG);
    if (!keep_log)
        kma_error_log_init(&heap->header.errors, me, work_items);
    if (me == 0) {
        heap->plan = plan;
        kma_heap_header_init(&heap->header, KMA_KIND_SCATTER, bytes, max(bytes, max_bytes),
                             plan.begin, plan.limit, plan.guard);
    }
    global kma_atomic_u32 *full = kma_scatter_words(heap, plan.full);
    global kma_atomic_u32 *table = kma_scatter_words(heap, plan.table);
    global kma_atomic_u32 *trees = kma_scatter_words(heap, plan.trees);
    global kma_atomic_u32 *bitmaps = kma_scatter_words(heap, plan.bitmaps);
    for (size_t i = me; i < KMA_SCATTER_SIZES; i += work_items)
        heap->sizes[i] = kma_scatter_size_of(min((uint)i, kma_scatter_classes(shift) - 1), shift);
    kma_scatter_places_init(heap, plan, me, work_items);
    for (size_t i = me; i < kma_scatter_supers(plan.room, super_shift); i += work_items)
        kma_store_u32(&full[i], 0, KMA_RELAXED);
    for (size_t i = me; i < plan.room; i += work_items)
        kma_store_u32(&table[i],
                      (i < plan.pages ? KMA_SCATTER_FREE : 0) |
                          kma_scatter_word(KMA_SCATTER_UNUSED, 0),
                      KMA_RELAXED);
    // the tree of free pages; the lists are empty
    kma_bit_tree_init(trees, plan.room, plan.pages, me, work_items);
    for (size_t i = plan.tree_words + me;
         i < (size_t)plan.tree_words * (kma_scatter_classes(shift) + 1); i += work_items)
        kma_store_u32(&trees[i], 0, KMA_RELAXED);
    const size_t words = ((size_t)plan.room << shift) / 32;
    for (size_t i = me; i < words; i += work_items)
        kma_store_u32(&bitmaps[i], 0, KMA_RELAXED);
#if KMA_DEBUG >= 2
    kma_guard_init((global kma_guard *)kma_scatter_words(heap, plan.guard), keep_log, me,
                   work_items);
#endif
}

// Makes a heap without pages of a buffer of at least sizeof(kma_scatter): every request is too
// large for it, every block foreign to it. Called as kma_scatter_init.
static inline void kma_scatter_init_empty(global kma_scatter *heap, ulong bytes, size_t me,
                                          size_t work_items)
{
    kma_error_log_init(&heap->header.errors, me, work_items);
    if (me != 0)
        return;
    const uint begin = (uint)kma_whole_units(sizeof(kma_scatter));
    ulong end;
    heap->plan = kma_scatter_plan_of(0, KMA_SCATTER_MIN_SHIFT, 0, 0, &end);
    heap->plan.begin = begin;
    heap->plan.limit = begin;
    kma_heap_header_init(&heap->header, KMA_KIND_SCATTER, bytes, bytes, begin, begin, 0);
}

// Makes the heap larger, after its contents were copied into this buffer of `bytes`; the new pages
// are free. Does nothing for fewer bytes than before or more than max_bytes. Called by one
// work-group of a launch; has a barrier.
static inline void kma_scatter_grow(global kma_scatter *heap, ulong bytes, size_t me,
                                    size_t work_items)
{
    kma_scatter_heap sc = kma_scatter_open(heap);
    const bool may =
        sc.plan.pages != 0 && bytes >= heap->header.bytes && bytes <= heap->header.max_bytes;
    const uint first = sc.plan.pages;
    if (may)
        sc.plan = kma_scatter_plan_within(sc.plan, bytes);
    for (size_t page = first + me; page < sc.plan.pages; page += work_items) {
        kma_store_u32(kma_scatter_page(&sc, (uint)page),
                      KMA_SCATTER_FREE | kma_scatter_word(KMA_SCATTER_UNUSED, 0), KMA_RELAXED);
        kma_bit_tree_put(kma_scatter_free_pages(&sc), sc.plan.room, (uint)page);
    }
    barrier(CLK_GLOBAL_MEM_FENCE); // all have read the old plan
    if (may && me == 0) {
        heap->plan = sc.plan;
        heap->header.bytes = bytes;
        heap->header.limit = sc.plan.limit;
    }
}

#endif
