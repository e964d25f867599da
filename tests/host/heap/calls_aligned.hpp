// Aligned requests of a lone caller in small superblock and scatter heaps, at random, against a look at all memory:
// NULL only if no block that is large enough begins at a multiple of the alignment, be its size one or not.
#pragma once

#include "heap/scatter/calls.hpp"
#include "heap/superblock/calls.hpp"

namespace calls {

// Whether a block of `units` begins at a multiple of `align` in a part of the heap that is split into `spots` of `room`
// units and has that bitmap.
inline bool has_aligned(kma_atomic_u32 *bitmap, uint spots, uint room, uint units, uint align)
{
    for (uint spot = 0; spot < spots && room >= units; spot++)
        if (spot * room % align == 0 && (kma_load_u32(&bitmap[spot / 32], KMA_RELAXED) >> (spot % 32) & 1) == 0)
            return true;
    return false;
}

inline bool has_aligned(kma_superblock *heap, uint units, uint align)
{
    for (uint sb = 0; sb < heap->plan.superblocks; sb++) {
        kma_atomic_u32 *const bitmap = kma_superblock_bitmap(heap, sb);
        const uint room = kma_class_units(kma_superblock_content_of(heap, sb) & ~KMA_SUPERBLOCK_FREE);
        const bool is_free = kma_load_u32(bitmap, KMA_RELAXED) == 0; // though it may be on offer
        if (is_free || has_aligned(bitmap, (1u << heap->plan.shift) / room, room, units, align))
            return true;
    }
    return false;
}

inline bool has_aligned(kma_scatter *heap, uint units, uint align)
{
    const kma_scatter_heap sc = kma_scatter_open(heap);
    for (uint page = 0; page < heap->plan.pages; page++) {
        const uint word = kma_load_u32(kma_scatter_page(&sc, page), KMA_RELAXED), split = kma_scatter_split(word);
        if ((word & KMA_SCATTER_FREE) != 0 || has_aligned(kma_scatter_bitmap(&sc, page), kma_scatter_spots(split, 5),
                                                          kma_scatter_units(split, 5), units, align))
            return true;
    }
    return false;
}

// Parts of 32 units each, all of which are free again in the end.
template <class Calls> void check_aligned(uint parts)
{
    uint odd = 0, refused = 0; // blocks whose size is no multiple of their alignment, and NULLs
    for (uint seed = 0; seed < 300; seed++) {
        log_of log{new_heap<Calls>(Calls::bytes_of(parts))};
        auto random = [n = seed](uint limit) mutable { return (n = kma_mix32(n + 0x9e3779b9u)) % limit; };
        const uint first = random(32); // sizes in a row, so that some parts are of each
        for (uint step = 0; step < 60; step++) {
            if (!taken.empty() && random(3) == 0) {
                std::swap(taken[random(static_cast<uint>(taken.size()))], taken.back());
                Calls::kind::free(log.heap, taken.back());
                taken.pop_back();
                continue;
            }
            const uint units = 1 + (first + random(4)) % 32, align = step < 25 ? 1 : 1u << random(3);
            const bool must = has_aligned(log.heap, units, align);
            void *const block = take<Calls>(log.heap, units, log, align);
            log.works((block != nullptr) == must);
            refused += !block;
            odd += block && Calls::usable_size(log.heap, block) / KMA_UNIT % align != 0;
            check_taken<Calls>(log.heap);
        }
        free_all<Calls>(log.heap);
        log.works(take_all<Calls>(log.heap, 32, log) == parts);
    }
    shim::check(odd >= 30 && refused >= 30, "too few blocks of odd sizes, or NULLs");
}

inline void check_aligned_requests()
{
    check_aligned<superblock_calls<5>>(4);
    check_aligned<scatter_calls>(5);
}

// How a search finds aligned bits, against one by one.
inline void check_aligned_spots()
{
    auto *const bitmap = reinterpret_cast<kma_atomic_u32 *>(base());
    for (const uint units : {1u, 2u, 3u, 5u, 6u, 7u, 10u, 12u, 24u, 40u, 96u, 160u})
        for (uint align = 2; align <= 256; align *= 2) {
            if (units % align == 0)
                continue;
            const uint step = kma_aligned_step(units, align);
            shim::check(step * units % align == 0 && step / 2 * units % align != 0, "the step of aligned blocks");
            for (uint spots = 1; spots < 300; spots += spots % 32 < 2 ? 1 : 29)
                for (uint free = 0; free <= spots; free += free % 5 + 1) { // the only clear bit; `spots`: none
                    begin_step();
                    for (uint word = 0; word < (spots + 31) / 32; word++)
                        kma_store_u32(&bitmap[word], word == free / 32 ? ~(1u << free % 32) : ~0u, KMA_RELAXED);
                    uint looks = 1000;
                    const uint right = free < spots && free % step == 0 ? free : KMA_NO_SPOT;
                    shim::check(kma_aligned_find(bitmap, spots, step, 0, &looks) == right, "an aligned bit");
                    looks = free / 32; // not as far as that word, unless whole words are passed over
                    shim::check(step >= 32 || kma_aligned_find(bitmap, spots, step, 0, &looks) == KMA_NO_SPOT,
                                "a search that looks too far");
                    shim::check(kma_aligned_claim(bitmap, spots, step) == right, "a claim");
                    shim::check(right == KMA_NO_SPOT || kma_load_u32(&bitmap[free / 32], KMA_RELAXED) == ~0u, "a claimed bit");
                }
        }
}

} // namespace calls
