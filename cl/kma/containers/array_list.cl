// Array list: objects of one size, each with an index, in a heap of any kind; it grows while
// kernels run (Spliet's ArrayList, thesis 4.2.2 and 5.3). Finding an object takes two dependent
// loads, three from block 256 on.
//
//   #include "kma/containers/array_list.cl"
//
//   kernel void fill(global kma_heap *heap, kma_ref points)
//   {
//       local kma_group_words words;
//       global kma_array_list *list = kma_array_list_at(heap, points);
//       const uint first = kma_array_list_grow_local(heap, list, 3, &words); // 3 each
//       if (first != KMA_ARRAY_LIST_NONE)
//           ((global float4 *)kma_array_list_get(heap, list, first))->x = 1;
//   }
//
//   uint   kma_array_list_grow      (heap, list, n)         adds n objects: index of the first
//   uint   kma_array_list_grow_local(heap, list, n, words)  by work-group, n of each work-item
//   uint   kma_array_list_grow_max  (heap, list, n, words)  by work-group, largest n, interleaved
//   void  *kma_array_list_get       (heap, list, i)         object i
//   uint   kma_array_list_size      (list)                  number of objects
//   bool   kma_array_list_room      (heap, list, n)         reserves memory for n more
//   void   kma_array_list_clear     (heap, list)            frees all objects
//   void   kma_array_list_rewind    (list)                  restarts at index 0, keeps the memory
//   void   kma_array_list_delete    (heap, list)            frees all objects and the list
//   kma_ref kma_array_list_new      (heap, bytes, align, objects, most)  makes an empty list
//
// In memory (array_list_layout.cl):
//
//   list: own[256]   ->                       block: objects, one after the other
//         pages[256] -> page: entries[256] -> block
//
// Each block has twice as many objects as the one before, up to `most`. Blocks are appended in
// order, each by a compare-and-swap on the first entry that is KMA_NULL, and stay until the list is
// cleared: an index alone gives block and offset (kma_array_list_find), and an acquired entry
// implies all entries before it. Growth and its memory orders: array_list_memory.cl.
#ifndef KMA_CONTAINERS_ARRAY_LIST_CL
#define KMA_CONTAINERS_ARRAY_LIST_CL

#include "kma/containers/array_list_memory.cl"
#include "kma/platform/group.cl"

// Returns the list of a ref from kma_array_list_new.
static inline global kma_array_list *kma_array_list_at(global kma_heap *heap, kma_ref ref)
{
    return (global kma_array_list *)kma_deref(heap, ref);
}

// Returns log2 of `objects`, rounded up to a power of two, at most KMA_ARRAY_LIST_MOST_SHIFT.
static inline uint kma_array_list_log2(uint objects)
{
    return objects > 1 ? min(kma_highest_bit(objects - 1) + 1, KMA_ARRAY_LIST_MOST_SHIFT) : 0;
}

// Resets the counts of lanes that wait for blocks, also of lanes that were stopped for ever.
static inline void kma_array_list_forget(global kma_array_list *list)
{
    kma_store_u32(&list->growing, 0, KMA_RELAXED);
    kma_store_u32(&list->bringing, 0, KMA_RELAXED);
}

// Makes an empty list without blocks for objects of `object_bytes`, at least 1. Object 0 of each
// block is at a multiple of `align`, a power of two up to 4,096. The first block has `objects`, the
// longest max(objects, most), both rounded up to a power of two. Returns KMA_NULL, with an error
// record, if there is no memory. Any lane. The caller publishes the ref by a release.
static inline kma_ref kma_array_list_new(global kma_heap *heap, uint object_bytes, uint align,
                                         uint objects, uint most)
{
    global kma_array_list *list = KMA_NEW(heap, kma_array_list);
    if (!list)
        return KMA_NULL;
    const uint shift = kma_array_list_log2(objects);
    list->object_bytes = object_bytes;
    list->align = align;
    list->shift = shift;
    list->doublings = max(kma_array_list_log2(most), shift) - shift;
    kma_array_list_forget(list);
    kma_store_u32(&list->credit, 0, KMA_RELAXED);
    kma_store_u32(&list->size, 0, KMA_RELAXED);
    kma_store_u32(&list->known, 0, KMA_RELAXED);
    for (uint i = 0; i < KMA_ARRAY_LIST_ENTRIES; i++) {
        kma_ref_init(&list->own[i], KMA_NULL);
        kma_ref_init(&list->pages[i], KMA_NULL);
    }
    return kma_ref_of(heap, list);
}

// Returns the number of objects, which is the number of indices that were given out. Relaxed.
static inline uint kma_array_list_size(global kma_array_list *list)
{
    return kma_load_u32(&list->size, KMA_RELAXED);
}

// Returns object `index`, which must be below the size; with KMA_DEBUG NULL if it is not. Any lane,
// while no work-item clears the list.
static inline global void *kma_array_list_get(global kma_heap *heap, global kma_array_list *list,
                                              uint index)
{
#if KMA_DEBUG
    if (index >= kma_array_list_size(list))
        return (global void *)0;
#endif
    const kma_array_list_spot spot = kma_array_list_find(list->shift, list->doublings, index);
    const kma_ref block = kma_load_settled_u32(kma_array_list_entry(heap, list, spot.block, true));
    return (global uchar *)kma_deref(heap, block) + (size_t)spot.within * list->object_bytes;
}

// ------ growing ----------------------------------------------------------------------------------

// True if a work-item may request `n` objects at a time; leaves an error record if not.
static inline bool kma_array_list_may(global kma_heap *heap, global kma_array_list *list, uint n)
{
    if (n > KMA_ARRAY_LIST_MOST)
        kma_array_list_refuse(heap, list, n);
    return n <= KMA_ARRAY_LIST_MOST;
}

// Adds `n` objects with consecutive indices, contents undefined, and returns the first index.
// Returns KMA_ARRAY_LIST_NONE for n == 0; the same, with an error record and the size unchanged,
// for n > KMA_ARRAY_LIST_MOST or if there is no memory. Any lane; converged lanes are served
// together.
static inline uint kma_array_list_grow(global kma_heap *heap, global kma_array_list *list, uint n)
{
    if (n == 0 || !kma_array_list_may(heap, list, n))
        return KMA_ARRAY_LIST_NONE;
    const kma_lanes active = kma_lanes_active();
    const kma_lanes group = kma_lanes_alike(active, (ulong)list);
    const bool together = kma_lane_in(group); // false: it uses another list than the leader
    kma_scan sums;
    sums.before = 0;
    sums.total = n;
    if (together)
        sums = kma_lanes_scan(group, n);
    // First the leader for all lanes of its list; if that fails, each lane alone, one after the
    // other: in lockstep, a lane that allocates blocks could not go on while its neighbours poll
    // for them.
    const uint rounds = together && kma_lanes_count(group) == 1 ? 1 : 1 + kma_lanes_count(active);
    const uint mine = 1 + kma_lane_rank(active);
    uint first = KMA_ARRAY_LIST_NONE;
    for (uint round = 0; round < rounds && first == KMA_ARRAY_LIST_NONE; round++) {
        const bool for_all = together && round == 0;
        if (for_all ? kma_lane_leads(group) : round == mine)
            first = kma_array_list_take(heap, list, for_all ? sums.total : n);
        if (for_all) {
            first = kma_lanes_first(group, first);
            kma_lanes_sync(group); // the group acquires what the leader acquired
            first += first != KMA_ARRAY_LIST_NONE ? sums.before : 0;
        }
    }
    return first;
}

// kma_array_list_grow for a work-group; collective. `n` may differ; for 0, unless all are 0, it
// returns the index that the next object would have. A work-item with too large an n gets
// KMA_ARRAY_LIST_NONE. All get it, with the size unchanged, if the memory does not suffice for the
// sum.
static inline uint kma_array_list_grow_local(global kma_heap *heap, global kma_array_list *list,
                                             uint n, local kma_group_words *words)
{
    const bool may = kma_array_list_may(heap, list, n);
    const kma_group_place place = kma_group_put(words, may ? n : 0);
    uint first = KMA_ARRAY_LIST_NONE;
    if (kma_group_me() == 0) {
        const uint sum = kma_group_sum(words);
        if (sum != 0)
            first = kma_array_list_take(heap, list, sum);
    }
    first = kma_group_tell(words, first);
    return may && first != KMA_ARRAY_LIST_NONE ? first + kma_group_before(words, place)
                                               : KMA_ARRAY_LIST_NONE;
}

// kma_array_list_grow_local with the group's largest `n` for each work-item, interleaved: the
// caller's k-th object has index first + k * work-items, and neighbours' k-th objects are adjacent
// (max distribution, thesis 5.3.2). If one n is too large, all get KMA_ARRAY_LIST_NONE, with one
// record.
static inline uint kma_array_list_grow_max(global kma_heap *heap, global kma_array_list *list,
                                           uint n, local kma_group_words *words)
{
    kma_group_put_max(words, n);
    uint first = KMA_ARRAY_LIST_NONE;
    if (kma_group_me() == 0) {
        const uint most = kma_group_most(words);
        if (most != 0 && kma_array_list_may(heap, list, most))
            first = kma_array_list_take(heap, list, most * kma_group_items());
    }
    first = kma_group_tell(words, first);
    return first != KMA_ARRAY_LIST_NONE ? first + kma_group_me() : first;
}

// Makes sure that there is memory for `n` more objects; returns false, with an error record, if it
// cannot. Concurrent growth uses up the same memory. Any lane.
static inline bool kma_array_list_room(global kma_heap *heap, global kma_array_list *list, uint n)
{
    const uint there = (uint)max((int)kma_load_u32(&list->credit, KMA_RELAXED), 0);
    if (there >= n)
        return true;
    const uint lacking = n - there;
    if (n > 1u << KMA_ARRAY_LIST_MOST_SHIFT) {
        kma_array_list_refuse(heap, list, n);
        return false;
    }
    if (!kma_array_list_bring(heap, list, lacking, false))
        return false;
    kma_array_list_credit(list, lacking);
    return true;
}

// Frees all blocks and pages and restarts at index 0. One work-item, while no other uses the list.
// One loop without a function for a page: NVIDIA's assembler miscompiled that (docs/porting.md,
// "Quirks").
static inline void kma_array_list_clear(global kma_heap *heap, global kma_array_list *list)
{
    for (uint i = 0; i < KMA_ARRAY_LIST_ENTRIES; i++) {
        global kma_array_list_page *page =
            (global kma_array_list_page *)kma_deref(heap, kma_ref_load_acquire(&list->pages[i]));
        if (i != 0 && !page)
            continue;
        global kma_atomic_ref *entries = page ? &page->entries[0] : &list->own[0];
        for (uint k = 0; k < KMA_ARRAY_LIST_ENTRIES; k++) {
            kma_free(heap, kma_deref(heap, kma_ref_load_acquire(&entries[k])));
            kma_ref_init(&entries[k], KMA_NULL);
        }
        kma_free(heap, page); // NULL for `own`, which is part of the list
        kma_ref_init(&list->pages[i], KMA_NULL);
    }
    kma_store_u32(&list->known, 0, KMA_RELAXED);
    kma_store_u32(&list->credit, 0, KMA_RELAXED);
    kma_store_u32(&list->size, 0, KMA_RELAXED);
    kma_array_list_forget(list);
}

// Restarts at index 0 and keeps the memory. One work-item, while no other uses the list.
static inline void kma_array_list_rewind(global kma_array_list *list)
{
    kma_fetch_add_u32(&list->credit, kma_array_list_size(list), KMA_RELAXED);
    kma_store_u32(&list->size, 0, KMA_RELAXED);
    kma_array_list_forget(list);
}

// Frees all blocks and the list. One work-item, while no other uses the list.
static inline void kma_array_list_delete(global kma_heap *heap, global kma_array_list *list)
{
    kma_array_list_clear(heap, list);
    kma_free(heap, list);
}

#endif
