// Aligned requests of a lone caller in small superblock and scatter heaps, at random, against a look at all memory: NULL only
// if no block that is large enough begins at a multiple of the alignment, be its size one or not.
#pragma once

#include <vector>

#include "heap/scatter/calls.hpp"
#include "heap/superblock/heap.hpp"

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
        const uint content = kma_superblock_content_of(heap, sb), room = kma_class_units(content & ~KMA_SUPERBLOCK_FREE);
        bool is_free = true; // though it may be on offer
        for (uint word = 0; word < heap->plan.bitmap_words; word++)
            is_free = is_free && kma_load_u32(&kma_superblock_bitmap(heap, sb)[word], KMA_RELAXED) == 0;
        if (is_free || has_aligned(kma_superblock_bitmap(heap, sb), (1u << heap->plan.shift) / room, room, units, align))
            return true;
    }
    return false;
}

inline bool has_aligned(kma_scatter *heap, uint units, uint align)
{
    const kma_scatter_heap sc = kma_scatter_open(heap);
    for (uint page = 0; page < heap->plan.pages; page++) {
        const uint word = kma_load_u32(kma_scatter_page(&sc, page), KMA_RELAXED), split = kma_scatter_split(word);
        if ((word & KMA_SCATTER_FREE) != 0 ||
            has_aligned(kma_scatter_bitmap(&sc, page), kma_scatter_spots(split, 5), kma_scatter_units(split, 5), units, align))
            return true;
    }
    return false;
}

inline size_t usable_of(kma_superblock *heap, void *block)
{
    return kma_superblock_usable_size(heap, block);
}

inline size_t usable_of(kma_scatter *heap, void *block)
{
    return kma_scatter_usable_size(heap, block);
}

// Counts in `odd` the blocks whose size is no multiple of their alignment, and in `refused` the NULLs.
template <class Kind>
void check_aligned(typename Kind::heap_type *heap, uint seed, uint units_of_part, uint &odd, uint &refused)
{
    log_of<typename Kind::heap_type> log{heap};
    const auto draw = [&seed](uint limit) { return (seed = kma_mix32(seed + 0x9e3779b9u)) % limit; };
    std::vector<void *> blocks;
    const uint first = draw(units_of_part); // sizes in a row, so that some parts are of each
    for (uint step = 0; step < 60; step++) {
        shim::self().operations = 0; // which are limited
        if (!blocks.empty() && draw(3) == 0) {
            std::swap(blocks[draw(static_cast<uint>(blocks.size()))], blocks.back());
            Kind::free(heap, blocks.back());
            blocks.pop_back();
            continue;
        }
        const uint units = 1 + (first + draw(4)) % units_of_part, align = step < 25 ? 1 : 1u << draw(3);
        const bool must = has_aligned(heap, units, align);
        void *const block = Kind::aligned_alloc(heap, align * KMA_UNIT, units * KMA_UNIT);
        if (!block) {
            log.fails(!must, KMA_ERROR_OUT_OF_MEMORY);
            refused++;
            continue;
        }
        const size_t usable = usable_of(heap, block);
        log.works(must && Kind::ref_of(heap, block) % align == 0 && usable >= units * KMA_UNIT);
        odd += usable / KMA_UNIT % align != 0;
        for (void *const other : blocks) {
            const auto distance = static_cast<uchar *>(block) - static_cast<uchar *>(other);
            log.works(distance >= 0 ? static_cast<size_t>(distance) >= usable_of(heap, other)
                                    : static_cast<size_t>(-distance) >= usable);
        }
        blocks.push_back(block);
    }
    for (void *const block : blocks)
        Kind::free(heap, block);
    log.works(true);
}

inline void check_aligned_requests()
{
    uint odd = 0, refused = 0;
    ulong end;
    kma_superblock_plan_of(4, 5, 0, &end);
    for (uint seed = 0; seed < 300; seed++) {
        auto *const heap = reinterpret_cast<kma_superblock *>(base());
        std::memset(static_cast<void *>(heap), 0xa5, end * KMA_UNIT);
        kma_superblock_init(heap, end * KMA_UNIT, 0, 5, false, 0, 1);
        check_aligned<superblock_kind>(heap, seed, 32, odd, refused);
        for (uint sb = 0; sb < 4; sb++)
            shim::check(kma_superblock_malloc(heap, 32 * KMA_UNIT), "a superblock is lost");
    }
    shim::check(odd >= 30 && refused >= 30, "too few blocks of odd sizes, or NULLs, in superblock heaps");
    odd = refused = 0;
    for (uint seed = 0; seed < 300; seed++) {
        kma_scatter *const heap = new_scatter(scatter_bytes(5), 0, 1);
        check_aligned<scatter_kind>(heap, seed, 32, odd, refused);
        check_scatter_trees(heap);
        for (uint page = 0; page < 5; page++)
            shim::check(kma_scatter_malloc(heap, 32 * KMA_UNIT), "a page is lost");
    }
    shim::check(odd >= 30 && refused >= 30, "too few blocks of odd sizes, or NULLs, in scatter heaps");
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
            for (uint spots = 1; spots < 300; spots += spots % 32 < 2 ? 1 : 29) {
                shim::check(step * units % align == 0 && step / 2 * units % align != 0, "the step of aligned blocks");
                const uint words = (spots + 31) / 32;
                for (uint free = 0; free <= spots; free += free % 5 + 1) { // the only clear bit; `spots`: none
                    for (uint word = 0; word < words; word++)
                        kma_store_u32(&bitmap[word], word == free / 32 ? ~(1u << free % 32) : ~0u, KMA_RELAXED);
                    uint looks = 1000;
                    const bool is_right = free < spots && free % step == 0;
                    shim::check(kma_aligned_find(bitmap, spots, step, 0, &looks) == (is_right ? free : KMA_NO_SPOT),
                                "an aligned bit");
                    looks = free / 32; // not as far as that word, unless whole words are passed over
                    shim::check(step >= 32 || kma_aligned_find(bitmap, spots, step, 0, &looks) == KMA_NO_SPOT,
                                "a search that looks too far");
                    shim::check(kma_aligned_claim(bitmap, spots, step) == (is_right ? free : KMA_NO_SPOT), "a claim");
                    shim::check(!is_right || kma_load_u32(&bitmap[free / 32], KMA_RELAXED) == ~0u, "a claimed bit");
                    shim::self().operations = 0;
                }
            }
        }
}

} // namespace calls
