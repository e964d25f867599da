// The bump heap as a tiny heap: what it served, counted by the threads that got it, must be what its head has passed.
#pragma once

#include "heap/tiny_heap.hpp"

#ifndef KMA_BUMP_UNCHECKED
#define KMA_BUMP_UNCHECKED 6u // so that larger sums go their own way: a heap has 7 units and more
#endif
#include "kma/heap/bump.cl"

struct bump_kind {
    KMA_HOST_FUNCTIONS(bump)
    static constexpr const char *name = "bump heap";
    static constexpr uint most_align = KMA_BUMP_ALIGN;
    static constexpr bool reuses = false;
    static constexpr bool checks_frees = false; // without KMA_DEBUG
    static constexpr uint rounds = 4;           // it is full soon
    static constexpr heap_shape shapes[] = {
        {0, 7, 0, 0, 4, {1, 3, 4, 2}}, {0, 11, 0, 0, 4, {1, 3, 4, 2}}, {0, 17, 0, 0, 3, {1, 2, 4}},
        {0, 9, 0, 0, 1, {1}},          {0, 13, 0, 0, 2, {7, 1}},       {0, 0, 0, 0, 2, {1, 2}},
    };
    static constexpr uint searched = 32, searched_rounds = 3;
    static constexpr heap_shape frozen(uint threads) { return {0, threads == 3 ? 12u : 20u, 0, 0, 2, {1, 3}}; }
    static constexpr uint roomy(uint threads) { return threads * rounds * 3; }
    static constexpr size_t most_metadata = sizeof(kma_bump) + KMA_UNIT;

    kma_bump *heap = nullptr;
    std::atomic<uint> served{0}; // units, those lost to alignment included; orders nothing

    static void vary(uint) {}

    static ulong bytes_of(const heap_shape &shape)
    {
        return kma_whole_units(sizeof(kma_bump)) * KMA_UNIT + (ulong{shape.count} << shape.shift) * KMA_UNIT;
    }

    void init(uchar *memory, ulong bytes, const heap_shape &)
    {
        served = 0;
        heap = shim::objects.construct<kma_bump>(memory);
        kma_bump_init(heap, bytes + 8, 0, 0, 1); // the 8 are less than a unit
    }

    uint begin() const { return heap->header.begin; }
    uint units() const { return heap->header.limit - heap->header.begin; }
    void took(uint blocks_units, uint align) { served.fetch_add(blocks_units + align - 1, std::memory_order_relaxed); }
    uint room_of(const block &mine) const { return mine.units; }
    void check_block(const block &) const {}

    void check_books(const block_list &) const
    {
        const ulong head = kma_bump_load_head(&heap->head, KMA_RELAXED);
        shim::check(head >= begin() && head <= heap->header.limit, "the head rests outside the heap");
        shim::check(head - begin() == served, "the head does not count what was served");
    }

    uint capacity(uint blocks_units, const block_list &) const { return (units() - served) / blocks_units; }

    // A group that stops costs what it asked for: while it crosses that is more than what was left, for lanes too that
    // were refused and have gone on.
    uint least(uint blocks_units, const block_list &, const block_list &, const block_list &asked,
               const block_list &refused) const
    {
        uint lost = 0;
        for (const block &each : asked)
            lost += each.units;
        for (const block &each : refused)
            lost += each.units;
        return served + lost < units() ? (units() - served - lost) / blocks_units : 0;
    }
};
