// What the slab heap's calls have in common: heaps, groups of lanes, and blocks that are taken. With devices' lines,
// frames and slabs, and shares of cursors of 32 and 128 lines.
#pragma once

#include "heap/calls.hpp"
#include "heap/slab/heap.hpp"

namespace calls {

using slab_log = log_of<kma_slab>;

struct slab_calls {
    using kind = slab_kind;
    static constexpr uint number = KMA_KIND_SLAB, part_units = KMA_SLAB_FRAME_UNITS, most_parts = 1000;

    static ulong bytes_of(uint frames)
    {
        ulong end;
        kma_slab_plan_of(frames, KMA_SLAB_CURSORS, 0, &end);
        return end * KMA_UNIT;
    }
    static inline uint cursors = KMA_SLAB_CURSORS;
    static void init(kma_slab *heap, ulong bytes, ulong max_bytes, bool keep_log, uint me, uint all)
    {
        kma_slab_init(heap, bytes, max_bytes, cursors, keep_log, me, all);
    }
    static void init_empty(kma_slab *heap, ulong bytes, uint me, uint all)
    {
        kma_slab_init_empty(heap, bytes, me, all);
    }
    static void grow(kma_slab *heap, ulong bytes) { kma_slab_grow(heap, bytes, 0, 1); }
    static size_t usable_size(kma_slab *heap, void *block) { return kma_slab_usable_size(heap, block); }
    static bool has(kma_slab *heap, uint frames)
    {
        return heap->plan.frames == frames && heap->plan.room == 8 && heap->plan.limit == heap->header.limit;
    }
    static bool has_room(kma_slab *heap, uint units) { return slab_metadata(heap).has_room(units); }

    // Each unit of the heap is a block's start or none.
    static void check(kma_slab *heap)
    {
        begin_step();
        slab_metadata metadata(heap);
        for (void *const each : taken)
            metadata.expect(unit_of(heap, each), 1);
        metadata.check();
        for (uint n = 0; n < heap->plan.frames * KMA_SLAB_FRAME_UNITS; n++) {
            shim::begin_call();
            shim::check(kma_slab_block_bytes(heap, unit(heap, n)) == size_t{metadata.block_at(n)} * KMA_UNIT,
                        "a block is not found, or where there is none");
        }
    }
};

// A group's requests and blocks, by lane.
struct slab_group {
    uint lanes = 32;
    uint units[32] = {}; // 0: none
    void *blocks[32] = {};
};

inline void take_together(kma_slab *heap, slab_group &group, slab_log &log, uint align = 1)
{
    shim::lockstep::run(group.lanes, 0, [&](uint lane) {
        const size_t bytes = size_t{group.units[lane]} * KMA_UNIT;
        group.blocks[lane] = bytes != 0 ? kma_slab_aligned_alloc(heap, align * KMA_UNIT, bytes) : nullptr;
    });
    for (uint lane = 0; lane < group.lanes; lane++) {
        shim::begin_call();
        if (!group.blocks[lane]) {
            log.expected[KMA_ERROR_OUT_OF_MEMORY] += group.units[lane] != 0; // too many classes for so few frames
            continue;
        }
        shim::check(unit_of(heap, group.blocks[lane]) % align == 0, "a block is not aligned");
        shim::check(kma_slab_usable_size(heap, group.blocks[lane]) >= group.units[lane] * KMA_UNIT,
                    "a block is too small");
        taken.push_back(group.blocks[lane]);
    }
    log.works(true);
}

// Whether `block` was one that is taken, which it is no longer.
inline bool forget(const void *block)
{
    const auto its = std::find(taken.begin(), taken.end(), block);
    if (its == taken.end())
        return false;
    *its = taken.back();
    taken.pop_back();
    return true;
}

} // namespace calls
