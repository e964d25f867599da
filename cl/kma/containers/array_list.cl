// A list of objects of one size that grows while kernels run, in memory of any heap: Spliet's
// ArrayList (thesis 4.2.2, 5.3) with indices. An object has a number, and is found by it in two
// steps, three in a long list.
//
//   #include "kma/containers/array_list.cl"
//
//   kernel void fill(global kma_heap *heap, kma_ref points)
//   {
//       local kma_group_words words; global kma_array_list *list = kma_array_list_at(heap, points);
//       const uint first = kma_array_list_grow_local(heap, list, 3, &words); // each work-item gets
//       three if (first != KMA_ARRAY_LIST_NONE)
//           ((global float4 *)kma_array_list_get(heap, list, first))->x = 1;
//   }
//
//   uint   kma_array_list_grow      (heap, list, n)         n more objects for this work-item: the first one's index
//   uint   kma_array_list_grow_local(heap, list, n, words)  the same, collective by work-group, n of each work-item
//   uint   kma_array_list_grow_max  (heap, list, n, words)  the same, the largest n for each, interleaved
//   void  *kma_array_list_get       (heap, list, i)         object i
//   uint   kma_array_list_size      (list)                  how many there are
//   bool   kma_array_list_room      (heap, list, n)         memory for n more
//   void   kma_array_list_clear     (heap, list)            frees them all
//   void   kma_array_list_rewind    (list)                  begins anew in the memory that there is
//   void   kma_array_list_delete    (heap, list)            and the list
//   kma_ref kma_array_list_new      (heap, bytes, align, objects, most)  an empty list, which is in the heap, too
//
// In memory:
//
//   list: own[256]   ->                       block: objects, one behind the other    (array_list_layout.cl)
//         pages[256] -> page: entries[256] -> block
//
// The first block is short, and each has twice as many objects as the one before until it is long
// enough; so few objects take little memory, and a crowd does not wait for hundreds of blocks.
// Blocks are put into the list in order, each by a compare-and-swap on the first entry that is 0,
// and stay there until it is cleared. So where object i is tells arithmetic (kma_array_list_find),
// and who has seen an entry has seen those before. How it grows, who brings blocks, and what orders
// all that: array_list_memory.cl.
#ifndef KMA_CONTAINERS_ARRAY_LIST_CL
#define KMA_CONTAINERS_ARRAY_LIST_CL

#include "kma/containers/array_list_memory.cl"
#include "kma/platform/group.cl"

// The list that a ref of kma_array_list_new leads to.
static inline global kma_array_list *kma_array_list_at(global kma_heap *heap, kma_ref ref)
{
    return (global kma_array_list *)kma_deref(heap, ref);
}

// log2 of a number of objects, rounded up to a power of two; no more than a list may have.
static inline uint kma_array_list_log2(uint objects)
{
    return objects > 1 ? min(kma_highest_bit(objects - 1) + 1, KMA_ARRAY_LIST_MOST_SHIFT) : 0;
}

// Nobody is about to bring blocks, nor any more who was stopped for ever while they grew the list.
static inline void kma_array_list_forget(global kma_array_list *list)
{
    kma_store_u32(&list->growing, 0, KMA_RELAXED);
    kma_store_u32(&list->bringing, 0, KMA_RELAXED);
}

// An empty list for objects of `object_bytes`, 1 or more, object 0 of each block at a multiple of
// `align`, a power of two up to 4,096. The first block has `objects`, each further one twice as
// many until they have `most` (both rounded up to a power of two; `most` not above `objects`: all
// have as many); the heap must have room for such. KMA_NULL, and a record, if there is no room for
// the list; it has no blocks yet. To be passed on by a release.
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

// How many objects there are: so many indices were given out.
static inline uint kma_array_list_size(global kma_array_list *list)
{
    return kma_load_u32(&list->size, KMA_RELAXED);
}

// Object `index`, which is below the size, of a list that nobody clears meanwhile. With KMA_DEBUG
// NULL if it is not.
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

// Whether a work-item may have `n` objects at a time; leaves a record if they are too many.
static inline bool kma_array_list_may(global kma_heap *heap, global kma_array_list *list, uint n)
{
    if (n > KMA_ARRAY_LIST_MOST)
        kma_array_list_refuse(heap, list, n);
    return n <= KMA_ARRAY_LIST_MOST;
}

// `n` more objects, side by side in number and, within a block, in memory: the first one's index;
// contents undefined. KMA_ARRAY_LIST_NONE for 0. That, and a record, for more than
// KMA_ARRAY_LIST_MOST, or if there is no memory; then the size is as before. Any work-item,
// converged or not; lanes that come together are served together.
static inline uint kma_array_list_grow(global kma_heap *heap, global kma_array_list *list, uint n)
{
    if (n == 0 || !kma_array_list_may(heap, list, n))
        return KMA_ARRAY_LIST_NONE;
    const kma_lanes active = kma_lanes_active();
    const kma_lanes group = kma_lanes_alike(active, (ulong)list);
    const bool together = kma_lane_in(group); // else it is of another list than the leader's
    kma_scan sums;
    sums.before = 0;
    sums.total = n;
    if (together)
        sums = kma_lanes_scan(group, n);
    // All together, and if there is no room each alone, one after the other: where lanes run in
    // lockstep, who brings blocks could not go on while the others look for them.
    const uint rounds = together && kma_lanes_count(group) == 1 ? 1 : 1 + kma_lanes_count(active);
    const uint mine = 1 + kma_lane_rank(active);
    uint first = KMA_ARRAY_LIST_NONE;
    for (uint round = 0; round < rounds && first == KMA_ARRAY_LIST_NONE; round++) {
        const bool for_all = together && round == 0;
        if (for_all ? kma_lane_leads(group) : round == mine)
            first = kma_array_list_take(heap, list, for_all ? sums.total : n);
        if (for_all) {
            first = kma_lanes_first(group, first);
            kma_lanes_sync(group); // what the leader acquired, all need
            first += first != KMA_ARRAY_LIST_NONE ? sums.before : 0;
        }
    }
    return first;
}

// The same for each work-item of a work-group, collective: `n` may differ, and be 0, which has the
// index that it would have. A work-item that asks for too many gets KMA_ARRAY_LIST_NONE, the others
// are served. All get it, and the size is as before, if there is no memory for all.
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

// The same, with as many objects for each work-item as that one gets who wants most, and those
// interleaved: the caller's k-th object is number first + k * work-items, so that what neighbours
// use together is side by side (max distribution, thesis 5.3.2). If one asks for too many, all get
// KMA_ARRAY_LIST_NONE, with one record.
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

// Sees to it that there is memory for `n` objects more: whether there is. What others take
// meanwhile is taken off it.
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

// Frees all blocks and pages, and begins anew at index 0; what the objects lead to is the caller's.
// One work-item, while nobody else uses the list. (One loop, and no function of its own for a page:
// NVIDIA's assembler got that wrong; docs/porting.md, "Quirks".)
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
        kma_free(heap, page); // NULL for those of the list itself
        kma_ref_init(&list->pages[i], KMA_NULL);
    }
    kma_store_u32(&list->known, 0, KMA_RELAXED);
    kma_store_u32(&list->credit, 0, KMA_RELAXED);
    kma_store_u32(&list->size, 0, KMA_RELAXED);
    kma_array_list_forget(list);
}

// Begins anew at index 0, and keeps the memory: what was there is overwritten by what comes. One
// work-item, while nobody else uses the list.
static inline void kma_array_list_rewind(global kma_array_list *list)
{
    kma_fetch_add_u32(&list->credit, kma_array_list_size(list), KMA_RELAXED);
    kma_store_u32(&list->size, 0, KMA_RELAXED);
    kma_array_list_forget(list);
}

// kma_array_list_clear, and the list itself.
static inline void kma_array_list_delete(global kma_heap *heap, global kma_array_list *list)
{
    kma_array_list_clear(heap, list);
    kma_free(heap, list);
}

#endif
