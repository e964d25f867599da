// An array list's blocks and indices: what the growing functions of array_list.cl are made of.
//
// Memory is reserved before indices: a failed request leaves no hole. `credit` counts objects that
// have memory in the list and no owner. Growing by n has two steps:
//  1. One add takes n off `credit`. If it found less, the add is undone, and the caller needs more
//     blocks. (Between the two, another lane may find too little credit and append blocks early.)
//  2. One add to `size` gives n consecutive indices. It cannot fail.
//
// Invariant:   size + credit + in hand == objects of all blocks
//    in hand   objects taken off credit that have no index yet; objects of appended blocks that are
//              not credit yet
//
// More blocks. A lane that found too little credit appends blocks for its request and a few for
// other waiting lanes, keeps n objects and adds the others to `credit`. One lane at a time has the
// turn (`bringing`, lockfree/turn.cl). The others poll, and append blocks themselves when their
// patience ends: no lane depends on another's progress. A lane that is stopped for ever costs what
// it has in hand: a block, or n objects without an owner.
//
// Memory orders.
//  - An entry is written by a release and read by an acquire before the next entry is written: an
//    acquired entry implies all entries before it.
//  - Indices follow the adds to `size`, not the blocks that gave the credit. A lane may get the
//    index of an object in a block that another lane appended, with no order between the two lanes.
//  - Therefore a lane with an index acquires the entry of its block, unless `known` covers it: a
//    count of entries, stored by a release after each append and not always the latest.
//  - Credit is added by a release, after the entries it stands for. The other counters order
//    nothing.
#ifndef KMA_CONTAINERS_ARRAY_LIST_MEMORY_CL
#define KMA_CONTAINERS_ARRAY_LIST_MEMORY_CL

#include "kma/kma.cl"
#include "kma/containers/array_list_layout.cl"
#include "kma/heap/common/error_log.cl"
#include "kma/lockfree/turn.cl"
#include "kma/platform/settled.cl"

#define KMA_ARRAY_LIST_NONE 0xffffffffu // no index

// Most objects of one request of a work-item; converged lanes and groups request their sum.
#define KMA_ARRAY_LIST_MOST 65536u

// Larger requests check `credit` before they subtract. Smaller ones subtract first: half a million
// work-items may do so at the same time before it wraps.
#ifndef KMA_ARRAY_LIST_MOST_ADDED
#define KMA_ARRAY_LIST_MOST_ADDED 2048u
#endif
#define KMA_ARRAY_LIST_TRIES 64u // compare-and-swaps of a larger request

// Most blocks that a lane appends for other waiting lanes, beyond its own request.
#ifndef KMA_ARRAY_LIST_EXTRA
#define KMA_ARRAY_LIST_EXTRA 8u
#endif

// Memory as a T. The tests' host shim constructs a C++ object there instead.
#ifndef KMA_OBJECT_AT
#define KMA_OBJECT_AT(T, memory) ((global T *)(memory))
#endif

// Returns the entry of a block, or NULL if its page is missing. `is_settled`: an index in the block
// was given out.
static inline global kma_atomic_ref *kma_array_list_entry(global kma_heap *heap,
                                                          global kma_array_list *list, uint block,
                                                          bool is_settled)
{
    if (block < KMA_ARRAY_LIST_ENTRIES)
        return &list->own[block];
    global kma_atomic_ref *const at = &list->pages[block >> KMA_ARRAY_LIST_PAGE_SHIFT];
    const kma_ref page = is_settled ? kma_load_settled_u32(at) : kma_ref_load_acquire(at);
    global kma_array_list_page *its = (global kma_array_list_page *)kma_deref(heap, page);
    return its ? &its->entries[block & (KMA_ARRAY_LIST_ENTRIES - 1)] : (global kma_atomic_ref *)0;
}

// Returns the most blocks that the list may have.
static inline uint kma_array_list_most_blocks(global kma_array_list *list)
{
    const uint longest = list->shift + list->doublings; // log2
    const uint shorter = kma_array_list_doubled(list->shift, list->doublings);
    const uint blocks =
        list->doublings + (((1u << KMA_ARRAY_LIST_MOST_SHIFT) - shorter) >> longest);
    return min(blocks, 1u << 2 * KMA_ARRAY_LIST_PAGE_SHIFT);
}

// Leaves an error record for a request of `n` objects that no memory could serve.
static inline KMA_COLD void kma_array_list_refuse(global kma_heap *heap,
                                                  global kma_array_list *list, uint n)
{
    kma_report(&heap->header, KMA_ERROR_TOO_LARGE, KMA_NULL, (ulong)n * list->object_bytes);
}

// Adds `objects` to `credit`. Release: their entries are in memory before another lane counts on
// them.
static inline void kma_array_list_credit(global kma_array_list *list, uint objects)
{
    if (objects != 0)
        kma_fetch_add_u32(&list->credit, objects, KMA_RELEASE);
}

// Takes `n` off `credit` if it is at least n. Returns false as well if other lanes changed it in
// each of KMA_ARRAY_LIST_TRIES tries; without contention the first try decides.
static inline bool kma_array_list_take_much_credit(global kma_array_list *list, uint n)
{
    uint seen = kma_load_u32(&list->credit, KMA_RELAXED);
    bool taken = false;
    for (uint tries = KMA_ARRAY_LIST_TRIES; tries != 0 && !taken && (int)seen >= (int)n; tries--) {
        const uint before = kma_cas_u32(&list->credit, seen, seen - n, KMA_RELAXED);
        taken = before == seen;
        seen = before;
    }
    return taken;
}

// Takes `n` off `credit` if it is at least n; n is at most 2^KMA_ARRAY_LIST_MOST_SHIFT. Relaxed.
static inline bool kma_array_list_take_credit(global kma_array_list *list, uint n)
{
    if (n > KMA_ARRAY_LIST_MOST_ADDED)
        return kma_array_list_take_much_credit(list, n);
    const int before = (int)kma_fetch_add_u32(&list->credit, 0u - n, KMA_RELAXED);
    if (before >= (int)n)
        return true;
    kma_fetch_add_u32(&list->credit, n, KMA_RELAXED);
    return false;
}

// Polls for credit that other lanes add. Returns true if the caller got `n`. False: the caller has
// a turn and must append blocks, since no lane has the turn or its lane seems to be stopped.
static inline bool kma_array_list_take_soon(global kma_array_list *list, uint n)
{
    bool is_my_turn = false;
    uint known = kma_load_u32(&list->known, KMA_RELAXED);
    // Ends: the count restarts only after an append, and the number of blocks is bounded.
    for (uint looks = 0; looks != KMA_TURN_PATIENCE && !is_my_turn; looks++) {
        kma_turn_pause(looks);
        is_my_turn = kma_turn_take(&list->bringing);
        if ((int)kma_load_u32(&list->credit, KMA_RELAXED) >= (int)n &&
            kma_array_list_take_credit(list, n)) {
            if (is_my_turn)
                kma_turn_end(&list->bringing);
            return true;
        }
        const uint now = kma_load_u32(&list->known, KMA_RELAXED);
        looks = now > known ? 0 : looks;
        known = max(known, now);
    }
    if (!is_my_turn)
        kma_turn_join(&list->bringing);
    return false;
}

// Makes `memory` the page of a block's entry. Returns false if the page exists already.
static inline bool kma_array_list_put_page(global kma_heap *heap, global kma_array_list *list,
                                           uint block, global void *memory)
{
    global kma_array_list_page *page = KMA_OBJECT_AT(kma_array_list_page, memory);
    for (uint i = 0; i < KMA_ARRAY_LIST_ENTRIES; i++)
        kma_ref_init(&page->entries[i], KMA_NULL);
    return kma_ref_cas(&list->pages[block >> KMA_ARRAY_LIST_PAGE_SHIFT], KMA_NULL,
                       kma_ref_of(heap, memory)) == KMA_NULL;
}

// Where to append: the first empty entry from `at` on, or the first entry with a missing page.
typedef struct kma_array_list_end {
    uint at;
    global kma_atomic_ref *entry; // NULL: its page is missing
} kma_array_list_end;

static inline kma_array_list_end kma_array_list_look(global kma_heap *heap,
                                                     global kma_array_list *list, uint at)
{
    kma_array_list_end end;
    end.entry = (global kma_atomic_ref *)0;
    // advances by one for each block that other lanes appended
    for (end.at = at; end.at < kma_array_list_most_blocks(list); end.at++) {
        end.entry = kma_array_list_entry(heap, list, end.at, false);
        if (!end.entry || kma_ref_load_acquire(end.entry) == KMA_NULL)
            break;
    }
    return end;
}

// Puts `memory` in place of the missing block or page. Returns false if another lane did so first.
static inline bool kma_array_list_put(global kma_heap *heap, global kma_array_list *list,
                                      kma_array_list_end end, global void *memory)
{
    if (!end.entry)
        return kma_array_list_put_page(heap, list, end.at, memory);
    if (kma_ref_cas(end.entry, KMA_NULL, kma_ref_of(heap, memory)) != KMA_NULL)
        return false;
    kma_store_u32(&list->known, end.at + 1, KMA_RELEASE);
    return true;
}

// True if other lanes still wait for credit, and the caller should append one more block.
static inline bool kma_array_list_others_lack(global kma_array_list *list, uint n)
{
    return kma_load_u32(&list->growing, KMA_RELAXED) > 1 &&
           (int)kma_load_u32(&list->credit, KMA_RELAXED) < (int)n;
}

// Appends blocks for the caller's `n` objects, and a few for other waiting lanes as credit.
// `takes`: credit that others add meanwhile will do as well. Returns false, with an error record,
// if there is no memory or the list may have no more blocks; blocks appended until then become
// credit. One call of malloc and one of free, since some compilers inline each call.
static inline KMA_COLD bool kma_array_list_bring(global kma_heap *heap, global kma_array_list *list,
                                                 uint n, bool takes)
{
    uint got = 0; // objects of n
    uint extra = KMA_ARRAY_LIST_EXTRA;
    uint at = kma_load_u32(&list->known, KMA_ACQUIRE);
    // Ends: each round one block or page is added, by the caller or by the lane that was faster;
    // the number of both is bounded.
    while (got < n || (extra-- != 0 && kma_array_list_others_lack(list, n))) {
        const kma_array_list_end end = kma_array_list_look(heap, list, at);
        at = end.at;
        if (at == kma_array_list_most_blocks(list))
            break;
        const uint shift = list->shift + min(at, (uint)list->doublings);
        const size_t block_bytes = max((size_t)list->object_bytes << shift, sizeof(kma_ref));
        global void *memory =
            kma_aligned_alloc(heap, end.entry ? list->align : sizeof(kma_ref),
                              end.entry ? block_bytes : sizeof(kma_array_list_page));
        if (!memory)
            break;
        const bool is_put = kma_array_list_put(heap, list, end, memory);
        if (is_put && end.entry) {
            const uint mine = min(n - got, 1u << shift);
            got += mine;
            kma_array_list_credit(list, (1u << shift) - mine);
        }
        if (is_put)
            continue;
        kma_free(heap, memory);
        // of the other lane's block, perhaps none
        if (takes && kma_array_list_take_credit(list, n - got))
            got = n;
    }
    if (got < n && at == kma_array_list_most_blocks(list))
        kma_array_list_refuse(heap, list, n);
    if (got < n)
        kma_array_list_credit(list, got);
    return got >= n;
}

// Gets memory for `n` objects after credit was too low: from other lanes' blocks, or from new ones.
// Returns false if there is no memory.
static inline bool kma_array_list_get_more(global kma_heap *heap, global kma_array_list *list,
                                           uint n)
{
    kma_fetch_add_u32(&list->growing, 1, KMA_RELAXED);
    bool served = kma_array_list_take_soon(list, n);
    if (!served) {
        // credit that was there, or was added since, may suffice
        served = kma_array_list_bring(heap, list, n, true) || kma_array_list_take_credit(list, n);
        kma_turn_end(&list->bringing);
    }
    kma_fetch_add_u32(&list->growing, 0u - 1u, KMA_RELAXED);
    return served;
}

// Acquires the ref to a block, or to its page, in which the caller has an object. The ref was
// written before credit or indices for the block were given out: its lane may be stopped since
// then. With no order from that lane to the caller a load may still miss the write; a
// read-modify-write reads the latest value.
static inline void kma_array_list_await(global kma_atomic_ref *at)
{
    if (kma_ref_load_acquire(at) != KMA_NULL)
        return;
    // Ends at the first round, or when a store that is still on its way arrives.
    while (kma_fetch_or_u32(at, 0, KMA_ACQUIRE) == KMA_NULL) {}
}

// Acquires the entry of a block in which the caller has an object, and with it all entries before.
static inline void kma_array_list_see(global kma_heap *heap, global kma_array_list *list,
                                      uint block)
{
    if (block >= KMA_ARRAY_LIST_ENTRIES)
        kma_array_list_await(&list->pages[block >> KMA_ARRAY_LIST_PAGE_SHIFT]);
    kma_array_list_await(kma_array_list_entry(heap, list, block, true));
}

// Takes `n` objects, at least 1, and returns the first index; KMA_ARRAY_LIST_NONE if there is no
// memory. The caller has acquired the entries of their blocks.
static inline uint kma_array_list_take(global kma_heap *heap, global kma_array_list *list, uint n)
{
    // The add and the load of `known` overlap: neither depends on the other.
    const bool few = n <= KMA_ARRAY_LIST_MOST_ADDED;
    const int credit = few ? (int)kma_fetch_add_u32(&list->credit, 0u - n, KMA_RELAXED) : 0;
    const uint known = kma_load_u32(&list->known, KMA_ACQUIRE);
    const bool served = few ? credit >= (int)n : kma_array_list_take_much_credit(list, n);
    if (few && !served)
        kma_fetch_add_u32(&list->credit, n, KMA_RELAXED);
    if (!served && !kma_array_list_get_more(heap, list, n))
        return KMA_ARRAY_LIST_NONE;
    const uint first = kma_fetch_add_u32(&list->size, n, KMA_RELAXED);
    const uint last = kma_array_list_find(list->shift, list->doublings, first + n - 1).block;
    if (last >= known)
        kma_array_list_see(heap, list, last);
    return first;
}

#endif
