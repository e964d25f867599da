// Every function of the slab heap by a lone caller, at its edges; see scenario_calls.hpp.
#pragma once

#include "heap/slab/calls_churn.hpp"
#include "heap/slab/calls_groups.hpp"

namespace calls {

inline void check_slab_requests(kma_slab *heap, slab_log &log)
{
    for (const size_t align : {1, 3, 64, 8192})
        log.works(!slab_kind::aligned_alloc(heap, align, 0));
    for (const size_t align : {size_t{0}, size_t{3}, size_t{KMA_SLAB_ALIGN} * 2, size_t{1} << 40}) {
        log.fails(!slab_kind::aligned_alloc(heap, align, 16), KMA_ERROR_BAD_ALIGNMENT);
        const uint n = log.expected[KMA_ERROR_BAD_ALIGNMENT] - 1;
        shim::check(
            n >= KMA_ERROR_KEPT ||
                heap->header.errors.first[KMA_ERROR_BAD_ALIGNMENT * KMA_ERROR_KEPT + n].size ==
                    align,
            "what the record of a request says that was wrong");
    }
    const size_t whole = size_t{heap->plan.room} * 8192;
    log.fails(!slab_kind::malloc(heap, whole + 1), KMA_ERROR_TOO_LARGE);
    log.fails(!slab_kind::malloc(heap, too_much), KMA_ERROR_TOO_LARGE);
    void *const all = slab_kind::malloc(heap, whole);
    log.works(all && slab_unit_of(heap, all) == 0 && kma_slab_usable_size(heap, all) == whole);
    log.fails(!slab_kind::malloc(heap, 1), KMA_ERROR_OUT_OF_MEMORY);
    log.fails(!slab_kind::aligned_alloc(heap, KMA_SLAB_ALIGN, 8192), KMA_ERROR_OUT_OF_MEMORY);
    slab_kind::free(heap, all);
    // Each class at its edges, each alone in the heap.
    for (uint size_class = 0; size_class < KMA_SLAB_CLASSES; size_class++) {
        const size_t bytes = size_t{kma_slab_units(size_class)} * KMA_UNIT;
        const size_t least =
            size_class != 0 ? size_t{kma_slab_units(size_class - 1)} * KMA_UNIT + 1 : 1;
        for (const size_t asked : {least, bytes}) {
            void *const block = slab_kind::malloc(heap, asked);
            log.works(block && kma_slab_usable_size(heap, block) == bytes);
            slab_kind::free(heap, block);
            log.works(kma_slab_usable_size(heap, block) == 0);
        }
    }
    check_slab_books(heap);
    for (uint frames = 1; frames < heap->plan.frames; frames++)
        for (const size_t more : {1, 256, 257, 8191, 8192}) {
            const size_t asked = frames * size_t{8192} + more;
            void *const block = slab_kind::malloc(heap, asked);
            log.works(block && kma_slab_usable_size(heap, block) == (asked + 255) / 256 * 256);
            taken.blocks[taken.count++] = block;
            if (more == 257)
                check_slab_books(heap);
            taken.count--;
            slab_kind::free(heap, block);
        }
    for (uint align = 1; align <= KMA_SLAB_ALIGN / KMA_UNIT; align *= 2)
        for (const uint units : {1u, 3u, 9u, 17u, 33u, 255u, 256u, 257u, 300u}) {
            void *const block =
                slab_kind::aligned_alloc(heap, size_t{align} * KMA_UNIT, units * KMA_UNIT - 15);
            if (!block && heap->plan.frames < 12) { // so small a heap has no room for all
                log.fails(true, KMA_ERROR_OUT_OF_MEMORY);
                free_all_of(heap, 3);
                continue;
            }
            log.works(block && kma_slab_ref_of(heap, block) % align == 0);
            log.works(kma_slab_usable_size(heap, block) >= units * KMA_UNIT);
            taken.blocks[taken.count++] = block;
            if (taken.count % 10 == 0)
                free_all_of(heap, 3);
        }
    free_all_of(heap, 1);
}

// Inside blocks. Where a slab was before, a free counts as its block's second one.
inline void check_slab_inside(kma_slab *heap, std::initializer_list<uchar *> wrongs, slab_log &log)
{
    for (uchar *const wrong : wrongs) {
        shim::check(kma_slab_usable_size(heap, wrong) == 0, "what is no block has a size");
        slab_kind::free(heap, wrong);
        const uint invalid =
            kma_load_u32(&heap->header.errors.count[KMA_ERROR_INVALID_FREE], KMA_RELAXED);
        log.fails(true, invalid != log.expected[KMA_ERROR_INVALID_FREE] ? KMA_ERROR_INVALID_FREE
                                                                        : KMA_ERROR_DOUBLE_FREE);
    }
}

inline void check_slab_pointers(kma_slab *heap, slab_log &log)
{
    const auto take = [heap](size_t bytes) {
        return static_cast<uchar *>(slab_kind::malloc(heap, bytes));
    };
    uchar *const small = take(KMA_UNIT), *const three = take(3 * KMA_UNIT),
                 *const large = take(300 * KMA_UNIT);
    uchar *const dead = take(70 * KMA_UNIT);
    slab_kind::free(heap, dead);
    log.works(small && three && large && dead);
    uchar *const begin = slab_unit(heap, 0), *const limit =
                                                 slab_unit(heap, heap->plan.frames * 512);
    check_slab_inside(heap,
                      {three + KMA_UNIT, three + 2 * KMA_UNIT, large + KMA_UNIT, large + 256,
                       large + 8, small + 1},
                      log);
    for (uchar *const wrong :
         {base() - 64, begin - KMA_UNIT, limit, limit + 64, static_cast<uchar *>(nullptr) + 32})
        check_foreign<slab_kind>(heap, wrong, kma_slab_usable_size(heap, wrong), log);
    for (uchar *const mine : {dead, large, three, small})
        for (uint time = mine == dead ? 1 : 0; time < 3; time++) {
            slab_kind::free(heap, mine);
            if (time == 0)
                log.works(kma_slab_usable_size(heap, mine) == 0);
            else
                log.fails(true, KMA_ERROR_DOUBLE_FREE);
        }
    if (heap->plan.frames < 2)
        return check_slab_books(heap);
    uchar *const run = take(8192 + 256);
    log.works(run && kma_slab_usable_size(heap, run) == 8192 + 256);
    check_slab_inside(heap, {run + KMA_UNIT, run + 256, run + 8192}, log);
    log.works(kma_slab_usable_size(heap, run) == 8192 + 256);
    slab_kind::free(heap, run);
    slab_kind::free(heap, run);
    log.fails(true, KMA_ERROR_DOUBLE_FREE);
    check_slab_books(heap);
}

// All that there is in many sizes, one after the other; and then with holes of others.
inline void check_slab_exhaustion(kma_slab *heap, slab_log &log)
{
    for (const uint units :
         {1u, 32u, 2u, 5u, 256u, 16u, 300u, 3u, 10u, 64u, 65u, 512u, 33u, 544u, 1100u}) {
        take_all_of(heap, units, log);
        free_all_of(heap, 7);
    }
    for (const uint first : {8u, 40u, 256u}) {
        take_all_of(heap, first, log);
        for (uint n = taken.count; n-- != 0;) // every third is free
            if (n % 3 == 0) {
                slab_kind::free(heap, taken.blocks[n]);
                taken.blocks[n] = taken.blocks[--taken.count];
            }
        check_slab_books(heap);
        for (const uint units : {600u, 300u, first + 1, first, first - 1, 1u})
            take_all_of(heap, units, log);
        free_all_of(heap, 11);
    }
}

// Each slot of a mixed slab is free in turn: requests that are aligned get it only where it is,
// too.
inline void check_slab_mixed_alignment()
{
    kma_slab *const heap = new_slab(slab_bytes(1), 0, 1);
    slab_log log{heap};
    for (uint seed = 0; seed < 200; seed++) {
        slab_group group;
        group.lanes = 16;
        uint units[32];
        for (uint lane = 0; lane < 16; lane++)
            units[lane] = 1 + kma_mix32(seed * 16 + lane) % 4;
        take_together(heap, group, units, log);
        free_together(heap, group, [seed](uint lane) {
            return lane == seed % 16 || lane == seed / 16 % 16 ? lane : 32;
        });
        for (const uint align : {2u, 4u, 1u}) {
            void *const block = slab_kind::aligned_alloc(heap, align * KMA_UNIT, align * KMA_UNIT);
            log.works(block && kma_slab_ref_of(heap, block) % align == 0);
            taken.blocks[taken.count++] = block;
        }
        free_all_of(heap, 3);
    }
}

// One slot after the other is all that is free in pages of a class: a request that is aligned gets
// it only where it is, too.
inline void check_slab_page_alignment()
{
    slab_paged = 1;
    for (uint units = 2; units <= 12; units++)
        for (const uint align : {2u, 4u, 8u}) {
            kma_slab *const heap = new_slab(slab_bytes(3), 0, 1);
            slab_log log{heap};
            take_all_of(heap, units, log);
            uint served = 0;
            for (uint n = taken.count - 1, turn = 0; turn < 40; turn++, n -= taken.count / 41) {
                shim::self().operations = 0;
                const bool fits =
                    units >= align && slab_unit_of(heap, taken.blocks[n]) % align == 0;
                slab_kind::free(heap, taken.blocks[n]);
                void *block = nullptr;
                shim::lockstep::run(1, turn % 3, [&](uint) { // which begins to look elsewhere
                    block = slab_kind::aligned_alloc(heap, align * KMA_UNIT, align * KMA_UNIT);
                });
                if (block)
                    log.works(fits && kma_slab_ref_of(heap, block) % align == 0);
                else
                    log.fails(true, KMA_ERROR_OUT_OF_MEMORY);
                slab_kind::free(heap, block);
                taken.blocks[n] = slab_kind::malloc(heap, units * KMA_UNIT);
                log.works(taken.blocks[n] != nullptr);
                served += block != nullptr;
            }
            log.works(served == 0 || units >= align);
            log.works(served == 40 || units % align != 0); // all slots of the class are aligned
            free_all_of(heap, 1);
        }
    slab_paged = KMA_SLAB_FRAME_UNITS;
}

// Slabs across frames, then pages and larger blocks in the same lines: words that are left of the
// slabs lead nowhere.
inline void check_slab_old_words()
{
    for (uint seed = 0; seed < 300; seed++) {
        slab_paged = 1;
        kma_slab *const heap = new_slab(slab_bytes(12), 0, 1);
        slab_log log{heap};
        slab_group group;
        uint units[32];
        for (uint round = 0; round < 3; round++) {
            for (uint lane = 0; lane < 32; lane++)
                units[lane] = seed % 2 == 0 ? 9 + (seed + round * 7) % 20
                                            : 4 + kma_mix32(seed * 32 + lane) % 20;
            take_together(heap, group, units, log);
        }
        free_all_of(heap, 1);
        static constexpr uint sizes[] = {512, 20, 512, 16, 24, 10, 12, 5, 60, 800, 512};
        for (uint n = 0; n < 12; n++)
            if (void *const block = slab_kind::malloc(
                    heap, sizes[kma_mix32(seed * 16 + n) % std::size(sizes)] * KMA_UNIT))
                taken.blocks[taken.count++] = block;
        check_slab_books(heap);
        free_all_of(heap, 3);
    }
    slab_paged = KMA_SLAB_FRAME_UNITS;
}

inline void check_slab_empty()
{
    auto *const heap = reinterpret_cast<kma_slab *>(base());
    const ulong bytes = sizeof(kma_slab);
    std::memset(static_cast<void *>(heap), 0xa5, 2 * bytes);
    for (uint me = 0; me < 3; me++)
        kma_slab_init_empty(heap, bytes - me * KMA_UNIT, me, 3);
    slab_log log{heap};
    log.works(heap->header.bytes == bytes && kma_heap_exists(&heap->header, KMA_KIND_SLAB));
    for (const size_t some : {1, 16, 8192, 9000})
        log.fails(!slab_kind::malloc(heap, some), KMA_ERROR_TOO_LARGE);
    shim::lockstep::run(
        32, 0, [&](uint) { shim::check(!kma_slab_malloc(heap, 16), "a block of an empty heap"); });
    log.expected[KMA_ERROR_TOO_LARGE] += 32;
    log.works(
        std::all_of(base() + bytes, base() + 2 * bytes, [](uchar byte) { return byte == 0xa5; }));
    slab_kind::free(heap, base() + bytes);
    log.fails(true, KMA_ERROR_INVALID_FREE);
    heap->header.max_bytes = 4 * bytes;
    kma_slab_grow(heap, 4 * bytes, 0, 1);
    shim::check(heap->plan.frames == 0 && heap->header.bytes == bytes, "an empty heap grew");
}

// Eight frames at most.
inline void check_slab_growth()
{
    const ulong most = slab_bytes(8);
    const auto with = [most](uint frames) { return most - (8 - frames) * 8192; };
    for (const uint work_items : {1u, 5u}) {
        kma_slab *const heap = new_slab(with(1), most, work_items);
        const auto is = [heap](ulong bytes, uint frames) {
            shim::self().operations = 0;
            return heap->header.bytes == bytes && heap->plan.frames == frames &&
                   heap->plan.room == 8 && heap->plan.limit == heap->plan.begin + frames * 512 &&
                   heap->header.limit == heap->plan.limit;
        };
        slab_log log{heap};
        log.works(is(with(1), 1) && heap->header.max_bytes == most);
        check_slab_books(heap);
        slab_kind::free(heap, slab_unit(heap, 512)); // of a frame that is not there yet
        log.fails(true, KMA_ERROR_INVALID_FREE);
        take_all_of(heap, 256, log);
        log.works(taken.count == 2);
        log.fails(!slab_kind::malloc(heap, 3 * 8192),
                  KMA_ERROR_OUT_OF_MEMORY); // it may grow to that
        for (const ulong bytes : {with(1) - 1, most + 1, ulong{0}}) {
            kma_slab_grow(heap, bytes, 0, 1);
            log.works(is(with(1), 1));
        }
        kma_slab_grow(heap, with(2) - 1, 0, 1); // no frame more
        log.works(is(with(2) - 1, 1));
        kma_slab_grow(heap, with(3) + 5, 0, 1);
        log.works(is(with(3) + 5, 3));
        take_all_of(heap, 256, log);
        log.works(taken.count == 6);
        kma_slab_grow(heap, most, 0, 1);
        log.works(is(most, 8));
        take_all_of(heap, 512, log);
        log.works(taken.count == 11);
        free_all_of(heap, 1);
        kma_slab_init(heap, most, most, KMA_SLAB_CURSORS, true, 0,
                      1); // empties the heap, not the log
        log.works(is(most, 8));
        check_slab_exhaustion(heap, log);
    }
}

inline void check_slab()
{
    check_slab_numbers();
    slab_kind::vary(1);
    for (const uint paged : {1u, KMA_SLAB_FRAME_UNITS})
        for (const uint frames : {1u, 2u, 3u, 7u, 12u})
            for (const uint work_items : {1u, 4u, 100u}) {
                slab_paged = paged;
                slab_spare = frames % 3;
                const ulong bytes = slab_bytes(frames);
                kma_slab *const heap = new_slab(bytes, 0, work_items);
                slab_log log{heap};
                log.works(heap->plan.frames == frames && heap->header.max_bytes == bytes);
                check_slab_books(heap);
                slab_kind::free(heap, slab_unit(heap, 0)); // of a line that was never used
                log.fails(true, KMA_ERROR_DOUBLE_FREE);
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
    check_slab_empty();
    check_slab_growth();
    for (const uint paged : {1u, KMA_SLAB_FRAME_UNITS})
        check_slab_groups(paged);
    check_slab_group_sizes();
    check_slab_wrong_frees();
    check_slab_churns();
    check_slab_mixed_alignment();
    check_slab_page_alignment();
    check_slab_old_words();
}

} // namespace calls
