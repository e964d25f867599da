// Every function of the bump heap by a lone caller, at its edges; see scenario_calls.hpp.
#pragma once

#include "heap/bump/heap.hpp"
#include "heap/calls.hpp"

namespace calls {

struct bump_calls {
    using kind = bump_kind;
    static constexpr uint number = KMA_KIND_BUMP, part_units = 1, most_parts = 1000;

    static ulong bytes_of(uint parts) { return (kma_whole_units(sizeof(kma_bump)) + parts) * KMA_UNIT; }
    // Only the first work-item may write what there is once; the others are told something else.
    static void init(kma_bump *heap, ulong bytes, ulong max_bytes, bool again, uint me, uint all)
    {
        if (again)
            kma_bump_reset(heap);
        else
            kma_bump_init(heap, bytes - me * KMA_UNIT, max_bytes != 0 ? max_bytes - me * KMA_UNIT : 0, me, all);
    }
    static void grow(kma_bump *heap, ulong bytes) { kma_bump_grow(heap, bytes); }
    static size_t usable_size(kma_bump *, void *) { return KMA_UNIT; } // the test's blocks are one part
    static bool has(kma_bump *, uint) { return true; }
    static void check(kma_bump *) {}
};

inline void check_bump()
{
    for (const ulong bytes : {ulong{16}, bump_calls::bytes_of(100), too_much}) {
        auto *const heap = reinterpret_cast<kma_bump *>(base());
        for (uint me = 0; me < 3; me++)
            bump_calls::init(heap, bytes, 0, false, me, 3);
        const ulong begin = kma_whole_units(sizeof(kma_bump));
        const ulong limit = std::clamp(bytes / KMA_UNIT, begin, ulong{UINT_MAX} - 1);
        shim::check(heap->header.begin == begin && heap->header.limit == limit, "where blocks may be");
    }
    kma_bump *heap = new_heap<bump_calls>(bump_calls::bytes_of(100), 0, 70);
    log_of log{heap};
    const auto head = [&heap] { return kma_bump_load_head(&heap->head, KMA_RELAXED) - heap->header.begin; };
    log.fails(!kma_bump_aligned_alloc(heap, 4096, 16), KMA_ERROR_TOO_LARGE);
    log.fails(!kma_bump_malloc(heap, 101 * KMA_UNIT), KMA_ERROR_TOO_LARGE);
    check_refusals<bump_calls>(heap, log);
    log.works(head() == 0 && kma_bump_aligned_alloc(heap, 1, 1) && head() == 1);
    log.works(kma_bump_ref_of(heap, kma_bump_aligned_alloc(heap, 64, 17)) % 4 == 0 && head() == 6);
    check_contents<bump_kind>(heap, log);
    kma_bump_reset(heap);
    log.works(head() == 0 && kma_bump_malloc(heap, 100 * KMA_UNIT));
    kma_bump_reset(heap);
#if KMA_HAS_ATOMIC64
    kma_bump_store_head(&heap->head, (1ul << 32) + heap->header.begin, KMA_RELAXED); // after very many adds
    log.fails(!kma_bump_malloc(heap, 16), KMA_ERROR_OUT_OF_MEMORY);
    kma_bump_reset(heap);
#endif
    kma_store_u32(&heap->header.errors.count[KMA_ERROR_OUT_OF_MEMORY], 0x80000000u, KMA_RELAXED);
    shim::check(kma_bump_malloc(heap, 99 * KMA_UNIT) && !kma_bump_malloc(heap, 32), "no more room");
    shim::check(log.count(KMA_ERROR_OUT_OF_MEMORY) == 0x80000000u, "a count goes on for ever");
    kma_store_u32(&heap->header.errors.count[KMA_ERROR_OUT_OF_MEMORY], 0x7fffffffu, KMA_RELAXED);
    for (uint time = 0; time < 2; time++)
        shim::lockstep::run(4, 0, [heap](uint) { kma_bump_malloc(heap, 32); });
    shim::check(log.count(KMA_ERROR_OUT_OF_MEMORY) == 0x80000003u, "lanes that count together");

    // What realloc keeps costs memory here: no more than the block's size tells.
    heap = new_heap<bump_calls>(bump_calls::bytes_of(400));
    log_of roomy{heap};
    check_kept_alignment<bump_kind>(heap, roomy);
    void *const small = kma_bump_aligned_alloc(heap, 256, 17);
    const ulong before = head();
    roomy.works(kma_bump_realloc_sized(heap, small, 17, 33) && head() == before + 3);
    // A heap whose address has less refuses more.
    auto *const other = reinterpret_cast<kma_bump *>(base() + 32);
    kma_bump_init(other, bump_calls::bytes_of(100), 0, 0, 1);
    log_of others{other};
    others.works(kma_bump_aligned_alloc(other, 32, 16));
    others.fails(!kma_bump_aligned_alloc(other, 64, 16), KMA_ERROR_BAD_ALIGNMENT);
    kma_bump_init(other, bump_calls::bytes_of(100), bump_calls::bytes_of(99), 0, 1);
    shim::check(other->header.max_bytes == bump_calls::bytes_of(100), "the most bytes of a heap that does not grow");
    check_growth<bump_calls>();
}

} // namespace calls
