// Every function of the scatter heap by a lone caller, at its edges; see scenario_calls.hpp.
#pragma once

#include "heap/scatter/calls_numbers.hpp"

namespace calls {

using scatter_log = log_of<kma_scatter>;

// ------ a heap of pages of 32 units, four to a super block but the last ----------------------------------------------

inline ulong scatter_bytes(uint pages)
{
    ulong end;
    kma_scatter_plan_of(pages, 5, 2, 0, &end);
    return end * KMA_UNIT;
}

inline kma_scatter *new_scatter(ulong bytes, ulong max_bytes, uint work_items)
{
    auto *const heap = reinterpret_cast<kma_scatter *>(base());
    std::memset(static_cast<void *>(heap), 0xa5, std::max(bytes, max_bytes));
    for (uint me = 0; me < work_items; me++)
        kma_scatter_init(heap, bytes, max_bytes, 5, 2, false, me, work_items);
    return heap;
}

inline uint unit_of(kma_scatter *heap, void *block)
{
    return kma_scatter_ref_of(heap, block) - heap->plan.begin;
}

inline void *scatter_unit(kma_scatter *heap, uint unit)
{
    return kma_scatter_deref(heap, heap->plan.begin + unit);
}

// Takes blocks of a size until there is none; how many. None is where another is, nor beyond the heap.
inline uint take_all(kma_scatter *heap, uint units, block_list &blocks, scatter_log &log)
{
    shim::self().operations = 0; // which are limited
    bool taken[most_units] = {};
    for (const block &each : blocks)
        std::fill_n(taken + each.first, each.units, true);
    for (uint count = 0;; count++) {
        void *const place = kma_scatter_malloc(heap, units * KMA_UNIT);
        if (!place) {
            log.fails(true, KMA_ERROR_OUT_OF_MEMORY);
            return count;
        }
        const uint first = unit_of(heap, place);
        shim::check(first + units <= heap->plan.limit - heap->plan.begin, "a block beyond the heap");
        shim::check(std::none_of(taken + first, taken + first + units, [](bool is) { return is; }),
                    "a block in another");
        std::fill_n(taken + first, units, true);
        blocks.push({first, units, 0});
    }
}

inline void free_all(kma_scatter *heap, block_list &blocks)
{
    while (blocks.count != 0)
        kma_scatter_free(heap, scatter_unit(heap, blocks.pop(blocks.count - 1).first));
}

inline void check_scatter_requests(kma_scatter *heap, scatter_log &log)
{
    for (const size_t align : {1, 3, 64, 8192})
        log.works(!kma_scatter_aligned_alloc(heap, align, 0));
    for (const size_t align : {size_t{0}, size_t{3}, size_t{KMA_SCATTER_ALIGN} * 2})
        log.fails(!kma_scatter_aligned_alloc(heap, align, 16), KMA_ERROR_BAD_ALIGNMENT);
    log.fails(!kma_scatter_malloc(heap, 4 * 512 + 1), KMA_ERROR_TOO_LARGE);
    void *const super = kma_scatter_malloc(heap, 4 * 512);
    log.works(super && unit_of(heap, super) % 128 == 0 && kma_scatter_usable_size(heap, super) == 4 * 512);
    log.works(kma_scatter_realloc(heap, super, 3 * 512) == super);
    kma_scatter_free(heap, super);
    void *const byte = kma_scatter_aligned_alloc(heap, 1, 1);
    log.works(byte && kma_scatter_usable_size(heap, byte) == KMA_UNIT);
    kma_scatter_free(heap, byte);
    for (const uint units : {1u, 3u, 5u, 7u, 11u, 17u, 32u}) // of sizes that are multiples of the alignment, and not
        for (const uint align : {1u, 2u, 4u}) {
            void *const some = kma_scatter_aligned_alloc(heap, align * KMA_UNIT, units * KMA_UNIT - 15);
            void *const other = kma_scatter_aligned_alloc(heap, align * KMA_UNIT, units * KMA_UNIT);
            log.works(some && kma_scatter_ref_of(heap, some) % align == 0);
            log.works(other && kma_scatter_ref_of(heap, other) % align == 0);
            const size_t usable = kma_scatter_usable_size(heap, some);
            log.works(usable >= units * KMA_UNIT && usable % (align * KMA_UNIT) == 0);
            kma_scatter_free(heap, some);
            kma_scatter_free(heap, other);
            log.works(!kma_scatter_usable_size(heap, some));
        }
}

// Page by page: chunks of 16 units, a run of two pages, chunks of one unit, and two that are free.
inline void check_scatter_pointers(kma_scatter *heap, scatter_log &log)
{
    auto *const large = static_cast<uchar *>(kma_scatter_malloc(heap, 16 * KMA_UNIT));
    auto *const run = static_cast<uchar *>(kma_scatter_malloc(heap, 33 * KMA_UNIT));
    auto *const small = static_cast<uchar *>(kma_scatter_malloc(heap, KMA_UNIT));
    log.works(large && run && small && kma_scatter_usable_size(heap, run) == 1024);
    uchar *const begin = base() + size_t{heap->plan.begin} * KMA_UNIT;
    uchar *const limit = base() + size_t{heap->plan.limit} * KMA_UNIT;
    for (uchar *const wrong : {base() - 64, large + KMA_UNIT, run + KMA_UNIT, run + 512, run + 8, small + 1, limit + 64,
                               begin - KMA_UNIT, limit})
        check_foreign<scatter_kind>(heap, wrong, kma_scatter_usable_size(heap, wrong), log);
    for (uchar *const mine : {large, run, small})
        for (uint time = 0; time < 3; time++) {
            kma_scatter_free(heap, mine);
            if (time == 0)
                log.works(!kma_scatter_usable_size(heap, mine));
            else
                log.fails(true, KMA_ERROR_DOUBLE_FREE);
        }
    auto *const kept = static_cast<uchar *>(kma_scatter_malloc(heap, 16 * KMA_UNIT)); // its page is not free
    const uint other = unit_of(heap, kept) ^ 16;
    kma_scatter_free(heap, scatter_unit(heap, other));
    log.fails(!kma_scatter_usable_size(heap, scatter_unit(heap, other)), KMA_ERROR_DOUBLE_FREE);
    kma_scatter_free(heap, kept);
    void *const five = kma_scatter_malloc(heap, 5 * KMA_UNIT);
    kma_scatter_free(heap, scatter_unit(heap, unit_of(heap, five) / 32 * 32 + 30)); // behind the last of six
    log.fails(true, KMA_ERROR_INVALID_FREE);
    kma_scatter_free(heap, five);
    log.works(true);
}

// After calls of a lone caller no page is in a tree where it is of no use: neither in that of free pages while it is split,
// nor in the list of a size for which it has no room, or was not split last.
inline void check_scatter_trees(kma_scatter *heap)
{
    const kma_scatter_heap sc = kma_scatter_open(heap);
    for (uint page = 0; page < heap->plan.pages; page++) {
        const uint word = kma_load_u32(kma_scatter_page(&sc, page), KMA_RELAXED);
        const bool is_free = (word & KMA_SCATTER_FREE) != 0;
        shim::check(kma_bit_tree_has(kma_scatter_free_pages(&sc), page) == is_free, "the tree of free pages");
        for (uint c = 0; c < kma_scatter_classes(heap->plan.shift); c++) {
            const bool is_listed = kma_bit_tree_has(kma_scatter_list_of(&sc, c), page);
            const bool has_room = kma_scatter_split(word) == c && kma_scatter_has_room(word, heap->plan.shift);
            shim::check(is_listed ? has_room || (is_free && kma_scatter_split(word) == c) : !has_room, "the list of a size");
        }
    }
}

// All that there is in every size, one after the other: no page keeps a size, none ends beyond the heap, and what is
// free in pages of another size is not lost.
inline void check_scatter_exhaustion(kma_scatter *heap, uint pages, scatter_log &log)
{
    block_list blocks;
    for (const uint units : {1u, 32u, 2u, 5u, 16u, 3u, 10u, 11u, 8u, 6u, 4u, 1u}) {
        log.works(take_all(heap, units, blocks, log) == pages * (32 / units));
        check_scatter_trees(heap);
        free_all(heap, blocks);
        check_scatter_trees(heap);
    }
    for (const uint units : {64u, 96u, 128u}) {
        const uint length = units / 32, last = pages % 4;
        const uint runs = take_all(heap, units, blocks, log);
        check_scatter_trees(heap);
        log.works(runs <= pages / 4 * (4 / length) + last / length && runs >= pages / 4 + (last >= length ? 1 : 0));
        free_all(heap, blocks);
    }
    // Half of the heap is chunks of 8 units of which one page each has one: the rest of them serves other sizes.
    log.works(take_all(heap, 8, blocks, log) == pages * 4);
    block_list kept;
    while (blocks.count != 0) {
        const block one = blocks.pop(blocks.count - 1);
        if (one.first / 32 % 2 == 0 && one.first % 32 == 8)
            kept.push(one);
        else
            kma_scatter_free(heap, scatter_unit(heap, one.first));
    }
    const uint half = kept.count;
    log.works(half == (pages + 1) / 2);
    for (const uint units : {1u, 4u, 7u, 8u, 9u, 32u}) {
        const uint in_eights = units <= 8 ? 3 * half : 0;
        const uint before = kept.count;
        log.works(take_all(heap, units, kept, log) == (pages - half) * (32 / (units == 7   ? 8
                                                                              : units == 9 ? 10
                                                                                           : units)) +
                                                          in_eights);
        check_scatter_trees(heap);
        while (kept.count != before)
            kma_scatter_free(heap, scatter_unit(heap, kept.pop(kept.count - 1).first));
        check_scatter_trees(heap);
    }
    free_all(heap, kept);
    log.works(true);
}

// Two pages side by side are all that is free: a run of them is found wherever the search begins.
inline void check_scatter_runs(kma_scatter *heap, uint pages, scatter_log &log)
{
    block_list blocks;
    for (uint first = 0; first + 1 < pages; first += 2) {
        log.works(take_all(heap, 32, blocks, log) == pages);
        for (uint n = blocks.count; n-- != 0;)
            if (blocks.blocks[n].first / 64 == first / 2)
                kma_scatter_free(heap, scatter_unit(heap, blocks.pop(n).first));
        for (uint start = 0; start < (first == 0 ? 800u : 20u);
             start++) { // of these some draw no place in front of page 2
            shim::self().operations = 0;
            kma_store_u32(&heap->next_run, start, KMA_RELAXED);
            void *const run = kma_scatter_malloc(heap, 2 * 512);
            log.works(run && unit_of(heap, run) == first * 32);
            kma_scatter_free(heap, run);
        }
        free_all(heap, blocks);
    }
}

// What is no run, or has a length that some kernel wrote over, is not ended; nor is one that was ended already.
inline void check_scatter_run_ends(kma_scatter *heap, uint pages, scatter_log &log)
{
    const kma_scatter_heap sc = kma_scatter_open(heap);
    block_list blocks;
    take_all(heap, 64, blocks, log);
    for (const block &run : blocks) {
        const uint page = run.first / 32, super_end = min((page / 4 + 1) * 4, pages);
        for (const uint length : {0u, super_end - page + 1}) {
            kma_store_u32(kma_scatter_bitmap(&sc, page), length, KMA_RELAXED);
            kma_scatter_free(heap, scatter_unit(heap, run.first));
            log.fails(true, KMA_ERROR_DOUBLE_FREE);
        }
        const bool has_next = page + 4 <= super_end && kma_scatter_is_rest(&sc, page + 3); // which is not given with it
        kma_store_u32(kma_scatter_bitmap(&sc, page), has_next ? 4 : 2, KMA_RELAXED);
        kma_store_u32(kma_scatter_bitmap(&sc, page + 1), 1, KMA_RELAXED);
        log.works(!kma_scatter_give_run(&sc, page + 1) && kma_scatter_give_run(&sc, page));
        log.works(!kma_scatter_is_rest(&sc, page + 1) && (!has_next || kma_scatter_is_rest(&sc, page + 3)));
        kma_store_u32(kma_scatter_bitmap(&sc, page), 1, KMA_RELAXED); // as who read the length before it was ended
        log.works(!kma_scatter_give_run(&sc, page));
        kma_store_u32(kma_scatter_bitmap(&sc, page), 0, KMA_RELAXED);
        kma_store_u32(kma_scatter_bitmap(&sc, page + 1), 0, KMA_RELAXED);
    }
    blocks.count = 0;
    log.works(take_all(heap, 32, blocks, log) == pages);
    free_all(heap, blocks);
}

// Trees that tell of pages without room: a lone caller finds the one that has some. All pages have two chunks of 16
// units, one of which is free; or one page is free.
inline void check_scatter_stale(kma_scatter *heap, uint pages, scatter_log &log)
{
    const kma_scatter_heap sc = kma_scatter_open(heap);
    const kma_scatter_own own = kma_scatter_own_of(&sc, kma_scatter_class_of(16, 5));
    const kma_scatter_own small = kma_scatter_own_of(&sc, 0);
    const auto tell_all = [&](uint which) { // the first tree, the second, or both
        for (uint page = 0; page < pages; page++) {
            if ((which & 1) != 0)
                kma_bit_tree_put(kma_scatter_free_pages(&sc), pages, page);
            if ((which & 2) != 0)
                kma_bit_tree_put(kma_scatter_list_of(&sc, own.size_class), pages, page);
        }
    };
    for (uint other = 0; other < 6 * pages; other++) {
        const uint page = other / 6, which = other / 2 % 3 + 1;
        const bool is_free = other % 2 == 0;
        block_list blocks, one;
        log.works(take_all(heap, 16, blocks, log) == 2 * pages);
        for (uint n = blocks.count; n-- != 0;)
            if (blocks.blocks[n].first / 32 == page && (is_free || blocks.blocks[n].first % 32 == 0))
                kma_scatter_free(heap, scatter_unit(heap, blocks.pop(n).first));
        if (!is_free) // no larger chunk is given to who does not want one
            log.works(kma_scatter_take_anywhere(&sc, small, 1, false) == KMA_NULL);
        tell_all(which);
        const kma_ref found = kma_scatter_take_anywhere(&sc, own, 1, true);
        log.works(found != KMA_NULL && (found - heap->plan.begin) / 32 == page);
        log.works(take_all(heap, 16, one, log) == uint{is_free});
        kma_scatter_free(heap, kma_scatter_deref(heap, found));
        free_all(heap, one);
        free_all(heap, blocks);
    }
    shim::self().operations = 0;
}

// Each super block counts as nearly full by its own pages, the short last one and that of a small heap too; and a place
// whose active one is nearly full goes on in another.
inline void check_scatter_full_supers(kma_scatter *heap, uint pages, scatter_log &log)
{
    const kma_scatter_heap sc = kma_scatter_open(heap);
    for (uint page = 0; page < pages; page++)
        log.works(!kma_scatter_is_nearly_full(&sc, page));
    for (uint super = 0; super < heap->plan.supers; super++) {
        const uint first = super * 4, own = min(4u, pages - first);
        block_list blocks;
        log.works(kma_scatter_super_pages(&sc, pages - 1) == pages - (heap->plan.supers - 1) * 4);
        log.works(take_all(heap, 32, blocks, log) == pages);
        for (uint n = blocks.count; n-- != 0;)
            if (blocks.blocks[n].first / 128 != super)
                kma_scatter_free(heap, scatter_unit(heap, blocks.pop(n).first));
        for (uint full = own;; full--) { // of its pages
            for (uint page = first; page < first + own; page++)
                log.works(kma_scatter_is_nearly_full(&sc, page) == (full * 4 >= own * 3));
            kma_store_u32(&heap->active[0], super, KMA_RELAXED);
            kma_store_u32(&heap->emptier[0], (super + 1) % heap->plan.supers, KMA_RELAXED);
            kma_scatter_move_on(&sc, 0, first);
            const bool moves = full * 4 >= own * 3 && heap->plan.supers != 1;
            log.works((kma_load_u32(kma_scatter_active(&sc, 0), KMA_RELAXED) != super) == moves);
            if (full == 0)
                break;
            kma_scatter_free(heap, scatter_unit(heap, blocks.pop(0).first));
        }
        free_all(heap, blocks);
    }
}

// Without lanes' company, as those of another heap than the leader's.
inline void check_scatter_alone(kma_scatter *heap, uint pages, scatter_log &log)
{
    const kma_scatter_heap sc = kma_scatter_open(heap);
    const kma_scatter_own own = kma_scatter_own_of(&sc, kma_scatter_class_of(16, 5));
    block_list blocks;
    for (uint n = 0; n < 2 * pages; n++) {
        const kma_ref ref = kma_scatter_take_anywhere(&sc, own, 1, true);
        log.works(ref >= heap->plan.begin && ref < heap->plan.limit);
        blocks.push({ref - heap->plan.begin, 16, 0});
    }
    log.works(kma_scatter_take_anywhere(&sc, own, 1, true) == KMA_NULL);
    const block last = blocks.pop(blocks.count - 1);
    const kma_scatter_spot_at at = kma_scatter_spot_of(&sc, kma_scatter_deref(heap, heap->plan.begin + last.first));
    log.works(kma_scatter_give_alone(&sc, at) && !kma_scatter_give_alone(&sc, at));
    blocks.push({kma_scatter_take_anywhere(&sc, own, 1, true) - heap->plan.begin, 16, 0});
    log.works(blocks.blocks[blocks.count - 1].first == last.first);
    free_all(heap, blocks);
    log.works(take_all(heap, 32, blocks, log) == pages);
    free_all(heap, blocks);
}

// Bitmaps that some kernel wrote over: reservations without chunks.
inline void check_scatter_damaged(kma_scatter *heap, uint pages, scatter_log &log)
{
    for (uint page = 0; page < pages; page++) {
        const kma_scatter_heap sc = kma_scatter_open(heap);
        kma_store_u32(kma_scatter_bitmap(&sc, page), ~0u, KMA_RELAXED);
    }
    log.fails(!kma_scatter_malloc(heap, 16), KMA_ERROR_DAMAGED);
}

// A page of which every other word of bits is full: who begins in a full one finds the next.
inline void check_scatter_search()
{
    ulong end;
    kma_scatter_plan_of(1, 7, 0, 0, &end);
    auto *const heap = reinterpret_cast<kma_scatter *>(base());
    std::memset(static_cast<void *>(heap), 0xa5, end * KMA_UNIT);
    kma_scatter_init(heap, end * KMA_UNIT, 0, 7, 0, false, 0, 1);
    scatter_log log{heap};
    block_list blocks, kept;
    log.works(take_all(heap, 1, blocks, log) == 128);
    while (blocks.count != 0) {
        const block one = blocks.pop(blocks.count - 1);
        if (one.first / 32 % 2 == 0)
            kept.push(one);
        else
            kma_scatter_free(heap, scatter_unit(heap, one.first));
    }
    log.works(take_all(heap, 1, kept, log) == 64);
    free_all(heap, kept);
}

inline void check_scatter_empty()
{
    auto *const heap = reinterpret_cast<kma_scatter *>(base());
    const ulong bytes = sizeof(kma_scatter);
    std::memset(static_cast<void *>(heap), 0xa5, bytes);
    for (uint me = 0; me < 3; me++)
        kma_scatter_init_empty(heap, bytes - me * KMA_UNIT, me, 3);
    scatter_log log{heap};
    log.works(heap->header.bytes == bytes && kma_heap_exists(&heap->header, KMA_KIND_SCATTER));
    log.fails(!kma_scatter_malloc(heap, 16), KMA_ERROR_TOO_LARGE);
    kma_scatter_free(heap, base() + bytes);
    log.fails(true, KMA_ERROR_INVALID_FREE);
    heap->header.max_bytes = 4 * bytes;
    kma_scatter_grow(heap, 4 * bytes, 0, 1);
    shim::check(heap->plan.pages == 0 && heap->header.bytes == bytes, "an empty heap grew");
}

// Ten pages of 32 units at most.
inline void check_scatter_growth()
{
    const ulong most = scatter_bytes(10);
    const auto with = [most](uint pages) { return most - (10 - pages) * 512; };
    for (const uint work_items : {1u, 5u}) {
        kma_scatter *const heap = new_scatter(with(3), most, work_items);
        const auto is = [heap](ulong bytes, uint pages) {
            return heap->header.bytes == bytes && heap->plan.pages == pages && heap->plan.room == 10 &&
                   heap->plan.supers == (pages + 3) / 4 && heap->plan.limit == heap->plan.begin + pages * 32 &&
                   heap->header.limit == heap->plan.limit;
        };
        scatter_log log{heap};
        log.works(is(with(3), 3) && heap->header.max_bytes == most);
        const kma_scatter_heap before = kma_scatter_open(heap);
        for (uint page = 0; page < 10; page++)
            shim::check(((kma_load_u32(kma_scatter_page(&before, page), KMA_RELAXED) & KMA_SCATTER_FREE) != 0) == (page < 3),
                        "a page that is still to come is free");
        kma_scatter_free(heap, scatter_unit(heap, 3 * 32)); // of a page that is not there yet
        log.fails(true, KMA_ERROR_INVALID_FREE);
        block_list blocks;
        log.works(take_all(heap, 32, blocks, log) == 3);
        log.fails(!kma_scatter_malloc(heap, 4 * 512), KMA_ERROR_OUT_OF_MEMORY); // it may grow to that
        for (const ulong bytes : {with(3) - 1, most + 1, ulong{0}}) {
            kma_scatter_grow(heap, bytes, 0, 1);
            log.works(is(with(3), 3));
        }
        kma_scatter_grow(heap, with(4) - 1, 0, 1); // no page more
        log.works(is(with(4) - 1, 3));
        log.works(take_all(heap, 1, blocks, log) == 0);
        kma_scatter_grow(heap, with(5) + 5, 0, 1);
        log.works(is(with(5) + 5, 5));
        log.works(take_all(heap, 32, blocks, log) == 2);
        kma_scatter_grow(heap, most, 0, 1);
        log.works(is(most, 10));
        log.works(take_all(heap, 32, blocks, log) == 5);
        free_all(heap, blocks);
        log.works(take_all(heap, 16, blocks, log) == 20);
        kma_scatter_init(heap, most, most, 5, 2, true, 0, 1); // empties the heap, not the log
        log.works(is(most, 10));
        check_scatter_exhaustion(heap, 10, log);
    }
}

inline void check_scatter()
{
    check_scatter_numbers();
    scatter_kind::vary(1);
    for (const uint pages : {5u, 6u, 8u, 11u})
        for (const uint work_items : {1u, 4u, 100u}) {
            const ulong bytes = scatter_bytes(pages);
            kma_scatter *const heap = new_scatter(bytes, 0, work_items);
            scatter_log log{heap};
            log.works(heap->plan.pages == pages && heap->header.max_bytes == bytes);
            kma_scatter_free(heap, scatter_unit(heap, 0)); // of a page that was never used
            log.fails(true, KMA_ERROR_INVALID_FREE);
            check_scatter_requests(heap, log);
            check_contents<scatter_kind>(heap, log);
            check_kept_alignment<scatter_kind>(heap, log);
            check_scatter_pointers(heap, log);
            check_scatter_exhaustion(heap, pages, log);
            check_scatter_runs(heap, pages, log);
            check_scatter_run_ends(heap, pages, log);
            check_scatter_stale(heap, pages, log);
            check_scatter_alone(heap, pages, log);
            check_scatter_damaged(heap, pages, log);
        }
    for (const uint pages : {1u, 2u, 3u, 6u, 7u, 8u, 9u}) {
        kma_scatter *const heap = new_scatter(scatter_bytes(pages), 0, 1);
        scatter_log log{heap};
        check_scatter_full_supers(heap, pages, log);
    }
    check_scatter_search();
    check_scatter_empty();
    check_scatter_growth();
}

} // namespace calls
