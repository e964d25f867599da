// What the slab heap's calls have in common: heaps, and blocks that are taken. With devices' lines,
// frames and slabs, and shares of cursors of 32 and 128 lines.
#pragma once

#include "heap/slab/calls_numbers.hpp"

namespace calls {

using slab_log = log_of<kma_slab>;

inline ulong slab_bytes(uint frames)
{
    ulong end;
    kma_slab_plan_of(frames, KMA_SLAB_CURSORS, 0, &end);
    return end * KMA_UNIT;
}

inline kma_slab *new_slab(ulong bytes, ulong max_bytes, uint work_items,
                          uint cursors = KMA_SLAB_CURSORS)
{
    auto *const heap = reinterpret_cast<kma_slab *>(base());
    std::memset(static_cast<void *>(heap), 0xa5, std::max(bytes, max_bytes));
    shim::self().operations = 0; // which are limited
    for (uint me = 0; me < work_items; me++)
        kma_slab_init(heap, bytes, max_bytes, cursors, false, me, work_items);
    return heap;
}

inline uchar *slab_unit(kma_slab *heap, uint unit)
{
    return reinterpret_cast<uchar *>(heap) + (size_t{heap->plan.begin} + unit) * KMA_UNIT;
}

inline uint slab_unit_of(kma_slab *heap, const void *block)
{
    return static_cast<uint>((static_cast<const uchar *>(block) - slab_unit(heap, 0)) / KMA_UNIT);
}

// Blocks, as many as there may be of one unit in 28 frames.
struct slab_blocks {
    void *blocks[28 * 512];
    uint count = 0;
};

inline slab_blocks taken;

// The metadata, and that each unit of the heap is a block's start or none.
inline void check_slab_books(kma_slab *heap)
{
    shim::start_watchdog();
    shim::self().operations = 0;
    slab_metadata metadata(heap);
    for (uint n = 0; n < taken.count; n++)
        metadata.expect(slab_unit_of(heap, taken.blocks[n]), 1);
    metadata.check();
    for (uint unit = 0; unit < heap->plan.frames * KMA_SLAB_FRAME_UNITS; unit++) {
        shim::self().operations = 0;
        shim::check(kma_slab_block_bytes(heap, slab_unit(heap, unit)) ==
                        size_t{metadata.block_at(unit)} * KMA_UNIT,
                    "a block is not found, or where there is none");
    }
}

// Takes all blocks of a size that there are.
inline void take_all_of(kma_slab *heap, uint units, slab_log &log)
{
    shim::start_watchdog();
    for (shim::self().operations = 0; slab_metadata(heap).has_room(units);
         shim::self().operations = 0) {
        void *const block = slab_kind::malloc(heap, size_t{units} * KMA_UNIT);
        shim::check(block, "a lone caller gets NULL though there is room");
        shim::check(kma_slab_usable_size(heap, block) >= size_t{units} * KMA_UNIT,
                    "a block is too small");
        taken.blocks[taken.count++] = block;
    }
    log.fails(!slab_kind::malloc(heap, size_t{units} * KMA_UNIT),
              units > heap->plan.room * KMA_SLAB_FRAME_UNITS ? KMA_ERROR_TOO_LARGE
                                                             : KMA_ERROR_OUT_OF_MEMORY);
    check_slab_books(heap);
}

inline void free_all_of(kma_slab *heap, uint step)
{
    for (uint n = 0; taken.count != 0; n++) {
        const uint which = n * step % taken.count;
        std::swap(taken.blocks[which], taken.blocks[taken.count - 1]);
        slab_kind::free(heap, taken.blocks[--taken.count]);
    }
    check_slab_books(heap);
}

} // namespace calls
