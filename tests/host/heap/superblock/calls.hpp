// Every function of the superblock heap by a lone caller, at its edges; see scenario_calls.hpp. Superblocks have four
// units, if a check does not say otherwise.
#pragma once

#include "heap/calls.hpp"
#include "heap/superblock/heap.hpp"

namespace calls {

template <uint shift> struct superblock_calls {
    using kind = superblock_kind;
    static constexpr uint number = KMA_KIND_SUPERBLOCK, part_units = 1u << shift, most_parts = 1;

    static ulong bytes_of(uint parts)
    {
        ulong end;
        kma_superblock_plan_of(parts, shift, 0, &end);
        return end * KMA_UNIT;
    }
    static void init(kma_superblock *heap, ulong bytes, ulong max_bytes, bool keep_log, uint me, uint all)
    {
        kma_superblock_init(heap, bytes, max_bytes, shift, keep_log, me, all);
    }
    static void init_empty(kma_superblock *heap, ulong bytes, uint me, uint all)
    {
        kma_superblock_init_empty(heap, bytes, me, all);
    }
    static void grow(kma_superblock *heap, ulong bytes) { kma_superblock_grow(heap, bytes); }
    static size_t usable_size(kma_superblock *heap, void *block) { return kma_superblock_usable_size(heap, block); }
    static bool has(kma_superblock *heap, uint parts)
    {
        return heap->plan.superblocks == parts && heap->plan.room == 8 && heap->plan.limit == heap->header.limit;
    }
    static void check(kma_superblock *) {}
};
using tiny_superblocks = superblock_calls<2>;

inline void check_superblock_requests(kma_superblock *heap, log_of<kma_superblock> &log)
{
    for (const bool has_room : {false, true}) {
        void *const first = has_room ? kma_superblock_aligned_alloc(heap, 64, 16) : nullptr;
        void *const other = has_room ? kma_superblock_malloc(heap, 16) : nullptr;
        kma_superblock_free(heap, first); // where any alignment would do
        check_refusals<tiny_superblocks>(heap, log);
        kma_superblock_free(heap, other);
    }
    void *const whole = take<tiny_superblocks>(heap, 4, log, 4), *const pair = take<tiny_superblocks>(heap, 1, log, 2);
    void *const small = kma_superblock_aligned_alloc(heap, 1, 1);
    log.works(whole && kma_superblock_usable_size(heap, pair) == 32 && kma_superblock_usable_size(heap, small) == 16);
    log.fails(!kma_superblock_malloc(heap, 64), KMA_ERROR_OUT_OF_MEMORY);
    kma_superblock_free(heap, small);
    log.works(!kma_superblock_usable_size(heap, small));
    free_all<tiny_superblocks>(heap);
    // Superblocks 0 and 1 have blocks of three units and of one.
    auto *const three = static_cast<uchar *>(kma_superblock_malloc(heap, 48));
    void *const one = kma_superblock_malloc(heap, 16);
    log.works(three && one);
    check_foreign<tiny_superblocks>(heap, {three + KMA_UNIT, three + 1, three + 3 * KMA_UNIT}, log);
    check_double_frees<tiny_superblocks>(heap, {one}, log);
    kma_superblock_free(heap, three);
}

// At out of memory, after 2^30 draws in vain: they must not go on until the counter leaves its half of the word.
inline void check_superblock_overdrawn(kma_superblock *heap, log_of<kma_superblock> &log)
{
    log.works(take_all<tiny_superblocks>(heap, 4, log) == 3);
#if KMA_HAS_ATOMIC64
    const kma_superblock_offer overdrawn = kma_superblock_offer_of(KMA_SUPERBLOCK_NONE, KMA_SUPERBLOCK_OVERDRAWN + 5);
    kma_superblock_offer_store(&heap->classes[0].offer, kma_superblock_offer_pack(heap, overdrawn), KMA_RELAXED);
    log.fails(!kma_superblock_malloc(heap, 16), KMA_ERROR_OUT_OF_MEMORY);
    shim::check(kma_superblock_look(heap, 0).drawn < KMA_SUPERBLOCK_OVERDRAWN, "an overdrawn offer is not set back");
#endif
    free_all<tiny_superblocks>(heap);
}

// Metadata that some kernel wrote over: where to look first, and tickets without blocks.
inline void check_superblock_damaged(kma_superblock *heap, log_of<kma_superblock> &log)
{
    for (uint c = 0; c < heap->plan.size_classes; c++)
        kma_store_u32(&heap->classes[c].partial.recent, 0x3fffffff, KMA_RELAXED);
    log.works(kma_superblock_malloc(heap, 16));
    for (uint sb = 0; sb < 3; sb++) {
        kma_store_u32(kma_superblock_bitmap(heap, sb), ~0u, KMA_RELAXED);
        kma_store_u32(&kma_superblock_state_of(heap, sb)->offered, 0, KMA_RELAXED);
    }
    log.fails(!kma_superblock_malloc(heap, 16), KMA_ERROR_DAMAGED);
}

inline void check_superblock()
{
    heap_patience = 2;
    const ulong bytes = tiny_superblocks::bytes_of(3);
    for (const uint work_items : {1u, 4u, 100u}) {
        kma_superblock *const heap = new_heap<tiny_superblocks>(bytes, 0, work_items);
        log_of log{heap};
        log.works(heap->plan.superblocks == 3 && heap->header.max_bytes == bytes);
        kma_superblock_free(heap, unit(heap, 0)); // of a superblock never used
        log.fails(true, KMA_ERROR_INVALID_FREE);
        check_superblock_requests(heap, log);
        check_contents<superblock_kind>(heap, log);
        check_superblock_overdrawn(heap, log);
        for (uint me = 0; me < work_items; me++) // empties the heap, not the log
            tiny_superblocks::init(heap, bytes, 0, true, me, work_items);
        check_superblock_damaged(heap, log);
    }
    log_of roomy{new_heap<superblock_calls<6>>(superblock_calls<6>::bytes_of(6))};
    check_kept_alignment<superblock_kind>(roomy.heap, roomy);
    log_of log{new_heap<superblock_calls<1>>(superblock_calls<1>::bytes_of(3))};
    log.fails(!kma_superblock_aligned_alloc(log.heap, 64, 16), KMA_ERROR_TOO_LARGE); // aligned beyond a superblock
    // A class without memory is served by the smallest larger one of suitable blocks.
    using wide = superblock_calls<4>;
    log_of larger{new_heap<wide>(wide::bytes_of(3))};
    static constexpr uint requests[][3] = {{5, 1, 5}, {16, 1, 16}, {8, 1, 8}, {2, 1, 5}, {3, 2, 8}};
    for (const auto &[units, align, served] : requests) {
        void *const block = take<wide>(larger.heap, units, larger, align);
        larger.works(kma_superblock_usable_size(larger.heap, block) == served * KMA_UNIT);
    }
    check_empty<tiny_superblocks>();
    check_growth<tiny_superblocks>();
}

} // namespace calls
