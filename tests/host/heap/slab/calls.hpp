// Every function of the slab heap by a lone caller, at its edges; see scenario_calls.hpp.
#pragma once

#include "heap/slab/calls_churn.hpp"
#include "heap/slab/calls_groups.hpp"

namespace calls {

inline void check_slab_requests(kma_slab *heap, slab_log &log)
{
    void *const all = slab_kind::malloc(heap, size_t{heap->plan.room} * 8192);
    log.works(all && unit_of(heap, all) == 0);
    log.fails(!slab_kind::malloc(heap, 1), KMA_ERROR_OUT_OF_MEMORY);
    log.fails(!slab_kind::aligned_alloc(heap, KMA_SLAB_ALIGN, 8192), KMA_ERROR_OUT_OF_MEMORY);
    slab_kind::free(heap, all);
    const auto serves = [&](size_t asked, size_t bytes) {
        void *const block = slab_kind::malloc(heap, asked);
        taken.assign(1, block);
        log.works(block && kma_slab_usable_size(heap, block) == bytes);
        if (asked % KMA_UNIT == 1)
            check_taken<slab_calls>(heap);
        taken.clear();
        slab_kind::free(heap, block);
        log.works(kma_slab_usable_size(heap, block) == 0);
    };
    // Each class at its edges, each alone in the heap; then runs.
    for (uint size_class = 0; size_class < KMA_SLAB_CLASSES; size_class++) {
        const size_t bytes = size_t{kma_slab_units(size_class)} * KMA_UNIT;
        serves(size_class != 0 ? size_t{kma_slab_units(size_class - 1)} * KMA_UNIT + 1 : 1, bytes);
        serves(bytes, bytes);
    }
    for (uint frames = 1; frames < heap->plan.frames; frames++)
        for (const size_t more : {1, 256, 257, 8191, 8192})
            serves(frames * size_t{8192} + more, (frames * size_t{8192} + more + 255) / 256 * 256);
    check_taken<slab_calls>(heap);
    for (uint align = 1; align <= KMA_SLAB_ALIGN / KMA_UNIT; align *= 2)
        for (const uint units : {1u, 3u, 9u, 17u, 33u, 255u, 256u, 257u, 300u}) {
            const bool is_served = take<slab_calls>(heap, units, log, align);
            log.works(is_served || heap->plan.frames < 12); // so small a heap has no room for all
            if (!is_served || taken.size() % 10 == 0)
                free_all<slab_calls>(heap, 3);
        }
    free_all<slab_calls>(heap);
}

inline void check_slab_pointers(kma_slab *heap, slab_log &log)
{
    const auto of = [heap](size_t units) { return static_cast<uchar *>(slab_kind::malloc(heap, units * KMA_UNIT)); };
    uchar *const small = of(1), *const three = of(3), *const large = of(300), *const dead = of(70);
    slab_kind::free(heap, dead);
    log.works(small && three && large && dead);
    check_foreign<slab_calls>(
        heap, {three + KMA_UNIT, three + 2 * KMA_UNIT, large + KMA_UNIT, large + 256, large + 8, small + 1}, log);
    slab_kind::free(heap, dead);
    log.fails(true, KMA_ERROR_DOUBLE_FREE);
    check_double_frees<slab_calls>(heap, {large, three, small}, log);
    if (heap->plan.frames >= 2) {
        uchar *const run = of(512 + 16);
        log.works(run && kma_slab_usable_size(heap, run) == 8192 + 256);
        check_foreign<slab_calls>(heap, {run + KMA_UNIT, run + 256, run + 8192}, log);
        log.works(kma_slab_usable_size(heap, run) == 8192 + 256);
        check_double_frees<slab_calls>(heap, {run}, log);
    }
    check_taken<slab_calls>(heap);
}

// All that there is in many sizes, one after the other; and then with holes of others.
inline void check_slab_exhaustion(kma_slab *heap, slab_log &log)
{
    for (const uint units : {1u, 32u, 2u, 5u, 256u, 16u, 300u, 3u, 10u, 64u, 65u, 512u, 33u, 544u, 1100u}) {
        if (units > heap->plan.frames * KMA_SLAB_FRAME_UNITS)
            continue;
        take_all<slab_calls>(heap, units, log);
        free_all<slab_calls>(heap, 7);
    }
    for (const uint first : {8u, 40u, 256u}) {
        take_all<slab_calls>(heap, first, log);
        uint n = 0; // every third is free
        free_those<slab_calls>(heap, [&n](uint) { return n++ % 3 == 0; });
        for (const uint units : {600u, 300u, first + 1, first, first - 1, 1u})
            if (units <= heap->plan.frames * KMA_SLAB_FRAME_UNITS)
                take_all<slab_calls>(heap, units, log);
        free_all<slab_calls>(heap, 11);
    }
}

// Two slots of a mixed slab are free: requests that are aligned get them only where they are, too.
inline void check_slab_mixed_alignment()
{
    kma_slab *const heap = new_heap<slab_calls>(slab_calls::bytes_of(1));
    slab_log log{heap};
    for (uint seed = 0; seed < 200; seed++) {
        slab_group group;
        group.lanes = 16;
        for (uint lane = 0; lane < 16; lane++)
            group.units[lane] = 1 + kma_mix32(seed * 16 + lane) % 4;
        take_together(heap, group, log);
        free_together(heap, group,
                      [seed](uint lane) { return lane == seed % 16 || lane == seed / 16 % 16 ? lane : 32; });
        for (const uint align : {2u, 4u, 1u})
            log.works(take<slab_calls>(heap, align, log, align));
        free_all<slab_calls>(heap, 3);
    }
}

// One slot after the other is all that is free in pages of a class: a request that is aligned gets it only where it is,
// too.
inline void check_slab_page_alignment()
{
    slab_paged = 1;
    for (uint units = 2; units <= 12; units++)
        for (const uint align : {2u, 4u, 8u}) {
            kma_slab *const heap = new_heap<slab_calls>(slab_calls::bytes_of(3));
            slab_log log{heap};
            const uint all = take_all<slab_calls>(heap, units, log);
            uint served = 0;
            for (uint n = all - 1, turn = 0; turn < 40; turn++, n -= all / 41) {
                const bool fits = units >= align && unit_of(heap, taken[n]) % align == 0;
                slab_kind::free(heap, taken[n]);
                void *block = nullptr;
                shim::lockstep::run(1, turn % 3, [&](uint) { // which begins to look elsewhere
                    block = slab_kind::aligned_alloc(heap, align * KMA_UNIT, align * KMA_UNIT);
                });
                if (block)
                    log.works(fits && kma_slab_ref_of(heap, block) % align == 0);
                else
                    log.fails(true, KMA_ERROR_OUT_OF_MEMORY);
                slab_kind::free(heap, block);
                taken[n] = slab_kind::malloc(heap, units * KMA_UNIT);
                log.works(taken[n]);
                served += block != nullptr;
            }
            log.works(served == 0 || units >= align);
            log.works(served == 40 || units % align != 0); // all slots of the class are aligned
            free_all<slab_calls>(heap);
        }
}

// Slabs across frames, then pages and larger blocks in the same lines: words that are left of the slabs lead nowhere.
inline void check_slab_old_words()
{
    slab_paged = 1;
    for (uint seed = 0; seed < 300; seed++) {
        kma_slab *const heap = new_heap<slab_calls>(slab_calls::bytes_of(12));
        slab_log log{heap};
        slab_group group;
        for (uint round = 0; round < 3; round++) {
            for (uint lane = 0; lane < 32; lane++)
                group.units[lane] = seed % 2 == 0 ? 9 + (seed + round * 7) % 20 : 4 + kma_mix32(seed * 32 + lane) % 20;
            take_together(heap, group, log);
        }
        free_all<slab_calls>(heap);
        static constexpr uint sizes[] = {512, 20, 512, 16, 24, 10, 12, 5, 60, 800, 512};
        for (uint n = 0; n < 12; n++)
            take<slab_calls>(heap, sizes[kma_mix32(seed * 16 + n) % std::size(sizes)], log);
        check_taken<slab_calls>(heap);
        free_all<slab_calls>(heap, 3);
    }
    slab_paged = KMA_SLAB_FRAME_UNITS;
}

inline void check_slab()
{
    slab_kind::vary(1);
    for (const uint paged : {1u, KMA_SLAB_FRAME_UNITS})
        for (const uint frames : {1u, 2u, 3u, 7u, 12u})
            for (const uint work_items : {1u, 4u, 100u}) {
                slab_paged = paged;
                slab_spare = frames % 3;
                const ulong bytes = slab_calls::bytes_of(frames);
                kma_slab *const heap = new_heap<slab_calls>(bytes, 0, work_items);
                slab_log log{heap};
                log.works(heap->plan.frames == frames && heap->header.max_bytes == bytes);
                check_taken<slab_calls>(heap);
                slab_kind::free(heap, unit(heap, 0)); // of a line that was never used
                log.fails(true, KMA_ERROR_DOUBLE_FREE);
                check_refusals<slab_calls>(heap, log);
                check_slab_requests(heap, log);
                if (frames >= 2 || paged != 1) // a page may be the whole heap
                    check_contents<slab_kind>(heap, log);
                if (frames >= 7)
                    check_kept_alignment<slab_kind>(heap, log);
                if (frames >= 3 || paged != 1)
                    check_slab_pointers(heap, log);
                if (work_items == 1)
                    check_slab_exhaustion(heap, log);
            }
    check_empty<slab_calls>();
    kma_slab *const empty = reinterpret_cast<kma_slab *>(base());
    shim::lockstep::run(32, 0, [&](uint) { shim::check(!kma_slab_malloc(empty, 16), "a block of an empty heap"); });
    check_growth<slab_calls>();
    check_slab_groups();
    check_slab_wrong_frees();
    check_slab_mixed_alignment();
    check_slab_page_alignment();
    check_slab_old_words();
    check_slab_churns();
}

} // namespace calls
