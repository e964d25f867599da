// An array list's memory and numbers: what array_list.cl's functions that grow are made of.
//
// Growing takes memory first and numbers afterwards, so that who gets none has no number, and there
// are no holes: `credit` counts objects for which there is memory in the list and which are
// nobody's; who takes n of them by one add owns n, whichever they will be; then n numbers, by an
// add to `size`, cannot fail:
//
//   size + credit + in hand == objects of all blocks
//      in hand   taken off credit, and not numbered yet; of blocks that were put there, and not credit yet
//
// (An add to `credit` that finds too little is taken back. Between the two others may find too
// little, where there was enough: they bring blocks early, nothing else.) Who finds too little
// credit puts blocks there: as many as he needs, and a few for those who wait meanwhile; keeps n of
// their objects, and gives the others as credit. One of a crowd does so at a time (`bringing`,
// lockfree/turn.cl), and nobody waits for him: one who is stopped for ever costs what he has in
// hand, a block, or n objects without an owner.
//
// Orders: an entry is set by a release and seen by an acquire, before the next one is set; so who
// sees one sees those before it. Numbers come in the order of the adds to `size`, not in that of
// the blocks whose credit was taken for them: so one may have the number of an object of a block
// that another brought, who told others only. Therefore who has a number acquires the entry of its
// block, unless `known` has told him of it: a count of entries, set by a release behind each, not
// always the latest. The other counters order nothing; but credit is given by a release, so that
// its entries are in memory before.
#ifndef KMA_CONTAINERS_ARRAY_LIST_MEMORY_CL
#define KMA_CONTAINERS_ARRAY_LIST_MEMORY_CL

#include "kma/kma.cl"
#include "kma/containers/array_list_layout.cl"
#include "kma/heap/common/error_log.cl"
#include "kma/lockfree/turn.cl"
#include "kma/platform/settled.cl"

#define KMA_ARRAY_LIST_NONE 0xffffffffu // no index

// objects that a work-item may ask for at a time; lanes and groups have their sum
#define KMA_ARRAY_LIST_MOST 65536u

// Who wants more does not take it off `credit` before he knows that it is there: so many of each of
// half a million work-items, all of which find too little, do not make it wrap.
#ifndef KMA_ARRAY_LIST_MOST_ADDED
#define KMA_ARRAY_LIST_MOST_ADDED 2048u
#endif
#define KMA_ARRAY_LIST_TRIES 64u // of one who wants more, while others take credit

// How many blocks one brings at most, beyond what he needs, for those who wait meanwhile.
#ifndef KMA_ARRAY_LIST_EXTRA
#define KMA_ARRAY_LIST_EXTRA 8u
#endif

// Memory as a T. (The tests' host shim makes a C++ object of it.)
#ifndef KMA_OBJECT_AT
#define KMA_OBJECT_AT(T, memory) ((global T *)(memory))
#endif

// The entry of a block; NULL if its page is not there. `is_settled`: somebody has an index there.
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

// How many blocks a list may have.
static inline uint kma_array_list_most_blocks(global kma_array_list *list)
{
    const uint longest = list->shift + list->doublings; // log2
    const uint shorter = kma_array_list_doubled(list->shift, list->doublings);
    const uint blocks =
        list->doublings + (((1u << KMA_ARRAY_LIST_MOST_SHIFT) - shorter) >> longest);
    return min(blocks, 1u << 2 * KMA_ARRAY_LIST_PAGE_SHIFT);
}

// Leaves the record of a request for `n` objects that no memory would serve.
static inline KMA_COLD void kma_array_list_refuse(global kma_heap *heap,
                                                  global kma_array_list *list, uint n)
{
    kma_report(&heap->header, KMA_ERROR_TOO_LARGE, KMA_NULL, (ulong)n * list->object_bytes);
}

// Gives credit for `objects` of the list's blocks. A release: their entries are in memory before
// anybody can count on them.
static inline void kma_array_list_credit(global kma_array_list *list, uint objects)
{
    if (objects != 0)
        kma_fetch_add_u32(&list->credit, objects, KMA_RELEASE);
}

// Takes credit for many objects, if there is so much. False as well if others took credit each time
// that one tried: a lone caller tries once.
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

// Takes credit for `n` objects, no more than a list may have, if there is so much.
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

// Whether one who found too little credit gets it from what others bring. False: he has a turn to
// bring blocks himself, as nobody does, or nobody has brought one for so long that he may be
// stopped.
static inline bool kma_array_list_take_soon(global kma_array_list *list, uint n)
{
    bool is_my_turn = false;
    uint known = kma_load_u32(&list->known, KMA_RELAXED);
    // Ends: looks begin anew with a block more only, of which there is a number.
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

// Makes a page of memory, for the entry of a block, if there is none yet: whether that was so.
static inline bool kma_array_list_put_page(global kma_heap *heap, global kma_array_list *list,
                                           uint block, global void *memory)
{
    global kma_array_list_page *page = KMA_OBJECT_AT(kma_array_list_page, memory);
    for (uint i = 0; i < KMA_ARRAY_LIST_ENTRIES; i++)
        kma_ref_init(&page->entries[i], KMA_NULL);
    return kma_ref_cas(&list->pages[block >> KMA_ARRAY_LIST_PAGE_SHIFT], KMA_NULL,
                       kma_ref_of(heap, memory)) == KMA_NULL;
}

// Where the next block may be missing: the first entry from `at` on, as far as its page is there.
typedef struct kma_array_list_end {
    uint at;
    global kma_atomic_ref *entry; // NULL: it lacks its page
} kma_array_list_end;

static inline kma_array_list_end kma_array_list_look(global kma_heap *heap,
                                                     global kma_array_list *list, uint at)
{
    kma_array_list_end end;
    end.entry = (global kma_atomic_ref *)0;
    // on by one for each that others put there
    for (end.at = at; end.at < kma_array_list_most_blocks(list); end.at++) {
        end.entry = kma_array_list_entry(heap, list, end.at, false);
        if (!end.entry || kma_ref_load_acquire(end.entry) == KMA_NULL)
            break;
    }
    return end;
}

// Makes memory for a block, or for a page, the one that was missing: whether it still was.
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

// Whether who has what he needs puts one more block there, as others wait for credit.
static inline bool kma_array_list_others_lack(global kma_array_list *list, uint n)
{
    return kma_load_u32(&list->growing, KMA_RELAXED) > 1 &&
           (int)kma_load_u32(&list->credit, KMA_RELAXED) < (int)n;
}

// Puts blocks for `n` objects, the caller's, into the list, and if there is memory some more for
// others: credit. `takes`: what others bring meanwhile will do as well. False, and a record, if
// there is no memory for n, or the list may have no more blocks; what of it is in the list is
// credit, too. One call of malloc and one of free, since some compilers copy them into the caller.
static inline KMA_COLD bool kma_array_list_bring(global kma_heap *heap, global kma_array_list *list,
                                                 uint n, bool takes)
{
    uint got = 0; // of n
    uint extra = KMA_ARRAY_LIST_EXTRA;
    uint at = kma_load_u32(&list->known, KMA_ACQUIRE);
    // Ends: each turn there is one block or page more, its own or another's, whose progress that
    // is; of both there is a number.
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
        // of what the other brought; maybe none
        if (takes && kma_array_list_take_credit(list, n - got))
            got = n;
    }
    if (got < n && at == kma_array_list_most_blocks(list))
        kma_array_list_refuse(heap, list, n);
    if (got < n)
        kma_array_list_credit(list, got);
    return got >= n;
}

// Memory for `n` objects, for one who found too little credit: what others bring, or his own
// blocks.
static inline bool kma_array_list_get_more(global kma_heap *heap, global kma_array_list *list,
                                           uint n)
{
    kma_fetch_add_u32(&list->growing, 1, KMA_RELAXED);
    bool served = kma_array_list_take_soon(list, n);
    if (!served) {
        // what was there and what came
        served = kma_array_list_bring(heap, list, n, true) || kma_array_list_take_credit(list, n);
        kma_turn_end(&list->bringing);
    }
    kma_fetch_add_u32(&list->growing, 0u - 1u, KMA_RELAXED);
    return served;
}

// Acquires a word of a block in which the caller has an object, though he has not seen yet that it
// is set. Who set it did so before he gave credit or took numbers for the block's objects, without
// which nobody has any of them; so he may stop for ever after that. A load may miss it all the
// same, as no order leads from him to the caller; a read-modify-write reads what is last.
static inline void kma_array_list_await(global kma_atomic_ref *at)
{
    if (kma_ref_load_acquire(at) != KMA_NULL)
        return;
    // Ends: once, or where a store is still on its way, when it is there
    while (kma_fetch_or_u32(at, 0, KMA_ACQUIRE) == KMA_NULL) {}
}

// Acquires the entry of a block below which others have numbers, and so all entries before it.
static inline void kma_array_list_see(global kma_heap *heap, global kma_array_list *list,
                                      uint block)
{
    if (block >= KMA_ARRAY_LIST_ENTRIES)
        kma_array_list_await(&list->pages[block >> KMA_ARRAY_LIST_PAGE_SHIFT]);
    kma_array_list_await(kma_array_list_entry(heap, list, block, true));
}

// `n` objects, at least 1: the first one's index.
static inline uint kma_array_list_take(global kma_heap *heap, global kma_array_list *list, uint n)
{
    // Both at once, as neither waits for the other.
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
