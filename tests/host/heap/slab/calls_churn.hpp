// The slab heap in use: blocks of a few sizes come and go at random, by a lone caller and by whole
// warps, and each NULL is held against a look at all memory.
#pragma once

#include "heap/slab/calls_blocks.hpp"

namespace calls {

// What happens in one heap: the sizes of its blocks, in units, and how often a warp comes.
struct slab_churn {
    uint frames, paged, sizes[4], warps; // of 16 steps
};

inline constexpr slab_churn slab_churns[] = {
    {3, 1, {1, 2, 3, 5}, 0},
    {12, 1, {4, 5, 17, 33}, 2},
    {12, 512, {2, 9, 18, 40}, 2},
    {12, 1, {3, 24, 26, 600}, 1},
    {28, 1, {513, 1500, 4700, 1}, 0},
    {28, 512, {512, 5000, 2, 520}, 3},
    {28, 1, {64, 130, 9000, 12}, 2},
    {7, 512, {100, 13, 17, 1}, 4},
    {28, 1, {300, 8200, 12400, 256}, 1},
};

class slab_churner {
public:
    slab_churner(const slab_churn &kind, uint seed)
        : kind_(kind), seed_(seed), heap_(new_slab(slab_bytes(kind.frames), 0, 1)), log_{heap_}
    {
    }

    void run()
    {
        for (uint step = 0; step < 400; step++) {
            shim::start_watchdog();
            if (step % 50 == 49)
                check_slab_books(heap_);
            const bool grows = step / 100 % 2 == 0;
            const bool takes = draw(4) < (grows ? 3 : 1);
            if (draw(16) < kind_.warps)
                takes ? take_by_warp() : free_by_warp();
            else if (takes)
                take();
            else if (taken.count != 0)
                free(draw(taken.count));
        }
        free_all_of(heap_, 5);
    }

private:
    uint draw(uint limit) { return (seed_ = kma_mix32(seed_ + 0x9e3779b9u)) % limit; }
    uint draw_units() { return kind_.sizes[draw(4)] + draw(2); }

    void add(void *block, uint units)
    {
        shim::self().operations = 0;
        shim::check(kma_slab_usable_size(heap_, block) >= size_t{units} * KMA_UNIT,
                    "a block is too small");
        taken.blocks[taken.count++] = block;
    }

    void take()
    {
        static constexpr size_t aligns[] = {16, 16, 16, 16, 1, 4, 8, 32, 64, 512, 1024, 4096};
        const uint units = draw_units();
        const size_t align = aligns[draw(std::size(aligns))],
                     bytes = size_t{units} * KMA_UNIT - draw(16);
        shim::self().operations = 0;
        const bool must = align <= 16 && slab_metadata(heap_).has_room(units);
        void *const block = slab_kind::aligned_alloc(heap_, align, bytes);
        if (block) {
            log_.works(slab_unit_of(heap_, block) * KMA_UNIT % align == 0);
            return add(block, units);
        }
        shim::check(!must, "a lone caller gets NULL though there is room");
        const uint n = log_.expected[KMA_ERROR_OUT_OF_MEMORY];
        log_.fails(true, KMA_ERROR_OUT_OF_MEMORY);
        const kma_error_record *const records =
            &heap_->header.errors.first[KMA_ERROR_OUT_OF_MEMORY * KMA_ERROR_KEPT];
        shim::check(n >= KMA_ERROR_KEPT || records[n].size == bytes, "a record of another size");
    }

    void free(uint which)
    {
        std::swap(taken.blocks[which], taken.blocks[taken.count - 1]);
        slab_kind::free(heap_, taken.blocks[--taken.count]);
    }

    void take_by_warp()
    {
        uint units[32];
        void *blocks[32];
        const uint one = draw_units();
        const bool is_equal = draw(2) == 0;
        for (uint &each : units)
            each = is_equal ? one : draw_units();
        shim::lockstep::run(32, 0, [&](uint lane) {
            blocks[lane] = kma_slab_malloc(heap_, size_t{units[lane]} * KMA_UNIT);
        });
        for (uint lane = 0; lane < 32; lane++)
            if (blocks[lane])
                add(blocks[lane], units[lane]);
            else
                log_.expected[KMA_ERROR_OUT_OF_MEMORY]++;
        log_.works(true);
    }

    // Blocks that were taken one after the other, mostly.
    void free_by_warp()
    {
        const uint first = taken.count > 32 ? draw(taken.count - 31) : 0;
        const uint count = std::min(taken.count, 32u);
        shim::lockstep::run(32, 0, [&](uint lane) {
            kma_slab_free(heap_, lane < count ? taken.blocks[first + lane] : nullptr);
        });
        for (uint n = first + count; n < taken.count; n++)
            taken.blocks[n - count] = taken.blocks[n];
        taken.count -= count;
        shim::self().operations = 0;
        log_.works(true);
    }

    const slab_churn &kind_;
    uint seed_;
    kma_slab *heap_;
    slab_log log_;
};

inline void check_slab_churns()
{
    for (const slab_churn &kind : slab_churns)
        for (uint seed = 0; seed < 12; seed++) {
            slab_kind::vary(seed % 3);
            slab_paged = kind.paged;
            slab_spare = seed % 3;
            slab_churner(kind, seed * 1000).run();
        }
    slab_kind::vary(1);
    slab_paged = KMA_SLAB_FRAME_UNITS;
}

} // namespace calls
