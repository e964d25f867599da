// Every function of the scatter heap by a lone caller, at its edges; see scenario_calls.hpp. Pages have 32 units,
// regions four pages but the last.
#pragma once

#include "heap/calls.hpp"
#include "heap/scatter/heap.hpp"

namespace calls {

using scatter_log = log_of<kma_scatter>;

template <uint shift, uint super_shift> struct scatter_calls_of {
    using kind = scatter_kind;
    static constexpr uint number = KMA_KIND_SCATTER, part_units = 1u << shift, most_parts = 1u << super_shift;

    static ulong bytes_of(uint pages)
    {
        ulong end;
        kma_scatter_plan_of(pages, shift, super_shift, 0, &end);
        return end * KMA_UNIT;
    }
    static void init(kma_scatter *heap, ulong bytes, ulong max_bytes, bool keep_log, uint me, uint all)
    {
        kma_scatter_init(heap, bytes, max_bytes, shift, super_shift, keep_log, me, all);
    }
    static void init_empty(kma_scatter *heap, ulong bytes, uint me, uint all) { kma_scatter_init_empty(heap, bytes, me, all); }
    static void grow(kma_scatter *heap, ulong bytes) { kma_scatter_grow(heap, bytes, 0, 1); }
    static size_t usable_size(kma_scatter *heap, void *block) { return kma_scatter_usable_size(heap, block); }
    static bool has(kma_scatter *heap, uint pages)
    {
        return heap->plan.pages == pages && heap->plan.room == 8 && heap->plan.supers == (pages + 3) / 4 &&
               heap->plan.limit == heap->header.limit;
    }

    // After calls of a lone caller no page is in a tree where it is of no use: neither in that of free pages while it
    // is split, nor in the list of a size for which it has no room, or was not split last.
    static void check(kma_scatter *heap)
    {
        const kma_scatter_heap sc = kma_scatter_open(heap);
        for (uint page = 0; page < heap->plan.pages; page++) {
            const uint word = kma_load_u32(kma_scatter_page(&sc, page), KMA_RELAXED);
            const bool is_free = (word & KMA_SCATTER_FREE) != 0;
            shim::check(kma_bit_tree_has(kma_scatter_free_pages(&sc), page) == is_free, "the tree of free pages");
            for (uint c = 0; c < kma_scatter_classes(heap->plan.shift); c++) {
                const bool is_listed = kma_bit_tree_has(kma_scatter_list_of(&sc, c), page), is_its = kma_scatter_split(word) == c;
                const bool has_room = is_its && kma_scatter_has_room(word, heap->plan.shift);
                shim::check(is_listed ? has_room || (is_free && is_its) : !has_room, "the list of a size");
            }
        }
    }
};

using scatter_calls = scatter_calls_of<5, 2>;

inline void check_scatter_requests(kma_scatter *heap, scatter_log &log)
{
    void *const region = kma_scatter_malloc(heap, 4 * 512);
    log.works(kma_scatter_realloc(heap, region, 3 * 512) == region);
    kma_scatter_free(heap, region);
    void *const byte = kma_scatter_aligned_alloc(heap, 1, 1);
    log.works(kma_scatter_usable_size(heap, byte) == KMA_UNIT);
    kma_scatter_free(heap, byte);
}

// Page by page: blocks of 16 units, a run of two pages, blocks of one unit, and two pages that are free.
inline void check_scatter_pointers(kma_scatter *heap, scatter_log &log)
{
    auto *const large = static_cast<uchar *>(kma_scatter_malloc(heap, 16 * KMA_UNIT));
    auto *const run = static_cast<uchar *>(kma_scatter_malloc(heap, 33 * KMA_UNIT));
    auto *const small = static_cast<uchar *>(kma_scatter_malloc(heap, KMA_UNIT));
    log.works(large && run && small && kma_scatter_usable_size(heap, run) == 1024);
    check_foreign<scatter_calls>(heap, {large + KMA_UNIT, run + KMA_UNIT, run + 512, run + 8, small + 1}, log);
    check_double_frees<scatter_calls>(heap, {large, run, small}, log);
    void *const kept = kma_scatter_malloc(heap, 16 * KMA_UNIT); // its page is not free
    void *const other = unit(heap, unit_of(heap, kept) ^ 16);
    kma_scatter_free(heap, other);
    log.fails(!kma_scatter_usable_size(heap, other), KMA_ERROR_DOUBLE_FREE);
    kma_scatter_free(heap, kept);
    void *const five = kma_scatter_malloc(heap, 5 * KMA_UNIT);
    kma_scatter_free(heap, unit(heap, unit_of(heap, five) / 32 * 32 + 30)); // behind the last of six
    log.fails(true, KMA_ERROR_INVALID_FREE);
    kma_scatter_free(heap, five);
}

// All that there is in every size, one after the other: no page keeps a size, none ends beyond the heap.
inline void check_scatter_exhaustion(kma_scatter *heap, uint pages, scatter_log &log)
{
    for (const uint units : {1u, 32u, 2u, 5u, 16u, 3u, 10u, 11u, 8u, 6u, 4u, 1u}) {
        log.works(take_all<scatter_calls>(heap, units, log) == pages * (32 / units));
        free_all<scatter_calls>(heap);
    }
    for (const uint length : {2u, 3u, 4u}) {
        const uint last = pages % 4, runs = take_all<scatter_calls>(heap, length * 32, log);
        log.works(runs <= pages / 4 * (4 / length) + last / length && runs >= pages / 4 + (last >= length ? 1 : 0));
        free_all<scatter_calls>(heap);
    }
}

// No larger block is given to a caller that does not want one.
inline void check_scatter_own_size(kma_scatter *heap, uint pages, scatter_log &log)
{
    const kma_scatter_heap sc = kma_scatter_open(heap);
    log.works(take_all<scatter_calls>(heap, 16, log) == 2 * pages);
    free_those<scatter_calls>(heap, [](uint first) { return first == 16; });
    log.works(kma_scatter_take_anywhere(&sc, kma_scatter_own_of(&sc, 0), 1, false) == KMA_NULL);
    free_all<scatter_calls>(heap);
}

// The trees name all pages, and one is free or has a free block: a lone caller finds it.
inline void check_scatter_stale(kma_scatter *heap, uint pages, scatter_log &log)
{
    const kma_scatter_heap sc = kma_scatter_open(heap);
    kma_atomic_u32 *const trees[] = {kma_scatter_free_pages(&sc),
                                     kma_scatter_list_of(&sc, kma_scatter_class_of(16, 5))};
    for (uint n = 0; n < 6 * pages; n++) {
        const uint page = n / 6, blocks = n % 2 + 1, right = n / 2 % 3; // trees 0 and 1; 2: none
        take_all<scatter_calls>(heap, 16, log);
        free_those<scatter_calls>(heap, [=](uint at) { return at - page * 32 < 16 * blocks; });
        for (uint each = 0; each < 2 * pages; each++)
            if (each % 2 != right)
                kma_bit_tree_put(trees[each % 2], pages, each / 2);
        log.works(unit_of(heap, take<scatter_calls>(heap, 16, log)) / 32 == page);
        log.works(take_all<scatter_calls>(heap, 16, log) == blocks - 1);
        free_all<scatter_calls>(heap);
    }
}

// What is no run, or has a length that some kernel wrote over, is not ended; nor is one that was ended already.
inline void check_scatter_run_ends(kma_scatter *heap, uint pages, scatter_log &log)
{
    const kma_scatter_heap sc = kma_scatter_open(heap);
    const auto store = [&sc](uint page, uint length) { kma_store_u32(kma_scatter_bitmap(&sc, page), length, KMA_RELAXED); };
    take_all<scatter_calls>(heap, 64, log);
    for (void *const run : taken) {
        const uint page = unit_of(heap, run) / 32, region_end = min((page / 4 + 1) * 4, pages);
        for (const uint length : {0u, region_end - page + 1}) {
            store(page, length);
            kma_scatter_free(heap, run);
            log.fails(true, KMA_ERROR_DOUBLE_FREE);
        }
        const bool has_next = page + 4 <= region_end && kma_scatter_is_rest(&sc, page + 3); // which is not given with it
        store(page, has_next ? 4 : 2);
        store(page + 1, 1);
        log.works(!kma_scatter_give_run(&sc, page + 1) && kma_scatter_give_run(&sc, page));
        log.works(!kma_scatter_is_rest(&sc, page + 1) && (!has_next || kma_scatter_is_rest(&sc, page + 3)));
        store(page, 1); // as if its length was read before it was ended
        log.works(!kma_scatter_give_run(&sc, page));
        store(page, 0);
        store(page + 1, 0);
    }
    taken.clear();
    log.works(take_all<scatter_calls>(heap, 32, log) == pages);
    free_all<scatter_calls>(heap);
}

// A region of which three quarters of the pages are full counts as nearly full: a shard goes on in another one.
inline void check_scatter_full_regions()
{
    kma_scatter *const heap = new_heap<scatter_calls>(scatter_calls::bytes_of(8));
    scatter_log log{heap};
    const kma_scatter_heap sc = kma_scatter_open(heap);
    for (uint full = 4; full != 0; full--) { // pages of region 0
        take_all<scatter_calls>(heap, 32, log);
        free_those<scatter_calls>(heap, [full](uint first) { return first >= full * 32; });
        kma_store_u32(&heap->active[0], 0, KMA_RELAXED);
        kma_store_u32(&heap->emptier[0], 1, KMA_RELAXED);
        kma_scatter_move_on(&sc, 0, 0);
        log.works((kma_load_u32(kma_scatter_active(&sc, 0), KMA_RELAXED) != 0) == (full >= 3));
    }
}

// A page of which every other word of bits is full: a search that begins in a full one finds the next.
inline void check_scatter_search()
{
    using one_page = scatter_calls_of<7, 0>;
    scatter_log log{new_heap<one_page>(one_page::bytes_of(1))};
    log.works(take_all<one_page>(log.heap, 1, log) == 128);
    free_those<one_page>(log.heap, [](uint first) { return first / 32 % 2 != 0; });
    log.works(take_all<one_page>(log.heap, 1, log) == 64);
}

inline void check_scatter()
{
    scatter_kind::vary(1);
    for (const uint pages : {5u, 6u, 8u, 11u})
        for (const uint work_items : {1u, 4u, 100u}) {
            const ulong bytes = scatter_calls::bytes_of(pages);
            kma_scatter *const heap = new_heap<scatter_calls>(bytes, 0, work_items);
            scatter_log log{heap};
            log.works(heap->plan.pages == pages && heap->header.max_bytes == bytes);
            kma_scatter_free(heap, unit(heap, 0)); // of a page that was never used
            log.fails(true, KMA_ERROR_INVALID_FREE);
            check_refusals<scatter_calls>(heap, log);
            check_scatter_requests(heap, log);
            check_contents<scatter_kind>(heap, log);
            check_kept_alignment<scatter_kind>(heap, log);
            check_scatter_pointers(heap, log);
            check_scatter_exhaustion(heap, pages, log);
            check_scatter_own_size(heap, pages, log);
            check_scatter_stale(heap, pages, log);
            check_scatter_run_ends(heap, pages, log);
            const kma_scatter_heap sc = kma_scatter_open(heap);
            for (uint page = 0; page < pages; page++) // bitmaps that some kernel wrote over: reservations without blocks
                kma_store_u32(kma_scatter_bitmap(&sc, page), ~0u, KMA_RELAXED);
            log.fails(!kma_scatter_malloc(heap, 16), KMA_ERROR_DAMAGED);
        }
    check_scatter_full_regions();
    check_scatter_search();
    check_empty<scatter_calls>();
    check_growth<scatter_calls>();
}

} // namespace calls
