// Every function of the scatter heap by a lone caller, at its edges; see scenario_calls.hpp. Pages have 32 units, regions
// four pages but the last.
#pragma once

#include "heap/calls.hpp"
#include "heap/scatter/heap.hpp"

namespace calls {

using scatter_log = log_of<kma_scatter>;

struct scatter_calls {
    using kind = scatter_kind;
    static constexpr uint number = KMA_KIND_SCATTER, part_units = 32, most_parts = 4;

    static ulong bytes_of(uint pages)
    {
        ulong end;
        kma_scatter_plan_of(pages, 5, 2, 0, &end);
        return end * KMA_UNIT;
    }
    static void init(kma_scatter *heap, ulong bytes, ulong max_bytes, bool keep_log, uint me, uint all)
    {
        kma_scatter_init(heap, bytes, max_bytes, 5, 2, keep_log, me, all);
    }
    static void init_empty(kma_scatter *heap, ulong bytes, uint me, uint all) { kma_scatter_init_empty(heap, bytes, me, all); }
    static void grow(kma_scatter *heap, ulong bytes) { kma_scatter_grow(heap, bytes, 0, 1); }
    static size_t usable_size(kma_scatter *heap, void *block) { return kma_scatter_usable_size(heap, block); }
    static bool has(kma_scatter *heap, uint pages)
    {
        return heap->plan.pages == pages && heap->plan.room == 8 && heap->plan.supers == (pages + 3) / 4 &&
               heap->plan.limit == heap->header.limit;
    }

    // After calls of a lone caller no page is in a tree where it is of no use: neither in that of free pages while it is
    // split, nor in the list of a size for which it has no room, or was not split last.
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

inline void check_scatter_requests(kma_scatter *heap, scatter_log &log)
{
    void *const region = kma_scatter_malloc(heap, 4 * 512);
    log.works(kma_scatter_realloc(heap, region, 3 * 512) == region);
    kma_scatter_free(heap, region);
    void *const byte = kma_scatter_aligned_alloc(heap, 1, 1);
    log.works(kma_scatter_usable_size(heap, byte) == KMA_UNIT);
    kma_scatter_free(heap, byte);
    for (const uint units : {1u, 3u, 5u, 7u, 11u, 17u, 32u}) // multiples of the alignment, and not
        for (const uint align : {1u, 2u, 4u}) {
            void *const some = kma_scatter_aligned_alloc(heap, align * KMA_UNIT, units * KMA_UNIT - 15);
            const size_t usable = kma_scatter_usable_size(heap, some);
            log.works(kma_scatter_ref_of(heap, some) % align == 0 && usable >= units * KMA_UNIT && usable % (align * KMA_UNIT) == 0);
            log.works(take<scatter_calls>(heap, units, log, align));
            kma_scatter_free(heap, some);
            free_all<scatter_calls>(heap);
            log.works(!kma_scatter_usable_size(heap, some));
        }
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

// All that there is in every size, one after the other: no page keeps a size, none ends beyond the heap, and what is
// free in pages of another size is not lost.
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
    // Half of the pages have one block of 8 units each: the rest of them serves other sizes.
    log.works(take_all<scatter_calls>(heap, 8, log) == pages * 4);
    free_those<scatter_calls>(heap, [](uint first) { return first / 32 % 2 != 0 || first % 32 != 8; });
    const std::vector<void *> kept = taken;
    const uint half = static_cast<uint>(kept.size());
    log.works(half == (pages + 1) / 2);
    static constexpr uint sizes[][2] = {{1, 1}, {4, 4}, {7, 8}, {8, 8}, {9, 10}, {32, 32}}; // asked for, and served
    for (const auto &[units, its] : sizes) {
        const uint in_eights = units <= 8 ? 3 * half : 0;
        log.works(take_all<scatter_calls>(heap, units, log) == (pages - half) * (32 / its) + in_eights);
        for (; taken.size() > half; taken.pop_back())
            kma_scatter_free(heap, taken.back());
        check_taken<scatter_calls>(heap);
    }
    free_all<scatter_calls>(heap);
    log.works(true);
}

// Two pages side by side are all that is free: a run of them is found wherever the search begins.
inline void check_scatter_runs(kma_scatter *heap, uint pages, scatter_log &log)
{
    for (uint pair = 0; 2 * pair + 1 < pages; pair++) {
        log.works(take_all<scatter_calls>(heap, 32, log) == pages);
        free_those<scatter_calls>(heap, [pair](uint first) { return first / 64 == pair; });
        for (uint start = 0; start < (pair == 0 ? 800u : 20u); start++) { // of these some draw no page in front of page 2
            kma_store_u32(&heap->next_run, start, KMA_RELAXED);
            void *const run = scatter_kind::malloc(heap, 2 * 512);
            shim::check(run && unit_of(heap, run) == pair * 64, "a run is not found");
            kma_scatter_free(heap, run);
        }
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

// Trees that tell of pages without room: a lone caller finds the one that has some. All pages have two blocks of 16
// units, one of which is free; or one page is free.
inline void check_scatter_stale(kma_scatter *heap, uint pages, scatter_log &log)
{
    const kma_scatter_heap sc = kma_scatter_open(heap);
    const kma_scatter_own own = kma_scatter_own_of(&sc, kma_scatter_class_of(16, 5)), small = kma_scatter_own_of(&sc, 0);
    for (uint other = 0; other < 6 * pages; other++) {
        const uint page = other / 6, which = other / 2 % 3 + 1; // the first tree tells, the second, or both
        const bool is_free = other % 2 == 0;
        log.works(take_all<scatter_calls>(heap, 16, log) == 2 * pages);
        free_those<scatter_calls>(heap, [&](uint first) { return first / 32 == page && (is_free || first % 32 == 0); });
        if (!is_free) // no larger block is given to a caller that does not want one
            log.works(kma_scatter_take_anywhere(&sc, small, 1, false) == KMA_NULL);
        for (uint each = 0; each < pages; each++) {
            if ((which & 1) != 0)
                kma_bit_tree_put(kma_scatter_free_pages(&sc), pages, each);
            if ((which & 2) != 0)
                kma_bit_tree_put(kma_scatter_list_of(&sc, own.size_class), pages, each);
        }
        const kma_ref found = kma_scatter_take_anywhere(&sc, own, 1, true);
        log.works(found != KMA_NULL && (found - heap->plan.begin) / 32 == page);
        taken.push_back(kma_scatter_deref(heap, found));
        uint more = 0;
        while (take<scatter_calls>(heap, 16, log))
            more++;
        log.works(more == uint{is_free});
        free_all<scatter_calls>(heap);
    }
}

// Each region counts as nearly full by its own pages, the short last one and that of a small heap too; and a shard whose
// active one is nearly full goes on in another.
inline void check_scatter_full_regions(uint pages)
{
    kma_scatter *const heap = new_heap<scatter_calls>(scatter_calls::bytes_of(pages));
    scatter_log log{heap};
    const kma_scatter_heap sc = kma_scatter_open(heap);
    for (uint page = 0; page < pages; page++)
        log.works(!kma_scatter_is_nearly_full(&sc, page));
    for (uint region = 0; region < heap->plan.supers; region++) {
        const uint first = region * 4, own = min(4u, pages - first);
        log.works(kma_scatter_super_pages(&sc, pages - 1) == pages - (heap->plan.supers - 1) * 4);
        log.works(take_all<scatter_calls>(heap, 32, log) == pages);
        free_those<scatter_calls>(heap, [region](uint unit) { return unit / 128 != region; });
        for (uint full = own;; full--) { // of its pages
            for (uint page = first; page < first + own; page++)
                log.works(kma_scatter_is_nearly_full(&sc, page) == (full * 4 >= own * 3));
            kma_store_u32(&heap->active[0], region, KMA_RELAXED);
            kma_store_u32(&heap->emptier[0], (region + 1) % heap->plan.supers, KMA_RELAXED);
            kma_scatter_move_on(&sc, 0, first);
            const bool moves = full * 4 >= own * 3 && heap->plan.supers != 1;
            log.works((kma_load_u32(kma_scatter_active(&sc, 0), KMA_RELAXED) != region) == moves);
            if (full == 0)
                break;
            kma_scatter_free(heap, taken.back());
            taken.pop_back();
        }
    }
}

// A lane of another heap than the leader's takes and frees alone.
inline void check_scatter_alone(kma_scatter *heap, uint pages, scatter_log &log)
{
    const kma_scatter_heap sc = kma_scatter_open(heap);
    const kma_scatter_own own = kma_scatter_own_of(&sc, kma_scatter_class_of(16, 5));
    for (uint n = 0; n < 2 * pages; n++) {
        taken.push_back(kma_scatter_deref(heap, kma_scatter_take_anywhere(&sc, own, 1, true)));
        log.works(taken.back());
    }
    check_taken<scatter_calls>(heap);
    log.works(kma_scatter_take_anywhere(&sc, own, 1, true) == KMA_NULL);
    const kma_scatter_spot_at at = kma_scatter_spot_of(&sc, taken.back());
    log.works(kma_scatter_give_alone(&sc, at) && !kma_scatter_give_alone(&sc, at));
    log.works(kma_scatter_deref(heap, kma_scatter_take_anywhere(&sc, own, 1, true)) == taken.back());
    free_all<scatter_calls>(heap);
    log.works(take_all<scatter_calls>(heap, 32, log) == pages);
    free_all<scatter_calls>(heap);
}

// A page of which every other word of bits is full: a search that begins in a full one finds the next.
inline void check_scatter_search()
{
    ulong end;
    kma_scatter_plan_of(1, 7, 0, 0, &end);
    auto *const heap = reinterpret_cast<kma_scatter *>(base());
    std::memset(static_cast<void *>(heap), 0xa5, end * KMA_UNIT);
    kma_scatter_init(heap, end * KMA_UNIT, 0, 7, 0, false, 0, 1);
    scatter_log log{heap};
    taken.clear();
    log.works(take_all<scatter_calls>(heap, 1, log) == 128);
    free_those<scatter_calls>(heap, [](uint first) { return first / 32 % 2 != 0; });
    log.works(take_all<scatter_calls>(heap, 1, log) == 64);
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
            check_scatter_runs(heap, pages, log);
            check_scatter_run_ends(heap, pages, log);
            check_scatter_stale(heap, pages, log);
            check_scatter_alone(heap, pages, log);
            const kma_scatter_heap sc = kma_scatter_open(heap);
            for (uint page = 0; page < pages; page++) // bitmaps that some kernel wrote over: reservations without blocks
                kma_store_u32(kma_scatter_bitmap(&sc, page), ~0u, KMA_RELAXED);
            log.fails(!kma_scatter_malloc(heap, 16), KMA_ERROR_DAMAGED);
        }
    for (const uint pages : {1u, 2u, 3u, 6u, 7u, 8u, 9u})
        check_scatter_full_regions(pages);
    check_scatter_search();
    check_empty<scatter_calls>();
    check_growth<scatter_calls>();
}

} // namespace calls
