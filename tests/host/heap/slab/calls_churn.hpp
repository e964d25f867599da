// The slab heap in use: blocks of a few sizes come and go at random, by a lone caller and by whole warps, and each NULL
// is held against a look at all memory.
#pragma once

#include "heap/slab/calls_blocks.hpp"

namespace calls {

// What happens in one heap: the sizes of its blocks, in units, and how often a warp comes.
struct slab_churn {
    uint frames, paged, sizes[4], warps; // of 16 steps
};

inline constexpr slab_churn slab_churns[] = {
    {3, 1, {1, 2, 3, 5}, 0},         {12, 1, {4, 5, 17, 33}, 2},       {12, 512, {2, 9, 18, 40}, 2},
    {12, 1, {3, 24, 26, 600}, 1},    {28, 1, {513, 1500, 4700, 1}, 0}, {28, 512, {512, 5000, 2, 520}, 3},
    {28, 1, {64, 130, 9000, 12}, 2}, {7, 512, {100, 13, 17, 1}, 4},    {28, 1, {300, 8200, 12400, 256}, 1},
};

inline void check_slab_churn(const slab_churn &churn, uint seed)
{
    kma_slab *const heap = new_heap<slab_calls>(slab_calls::bytes_of(churn.frames));
    slab_log log{heap};
    const auto draw = [&seed](uint limit) { return (seed = kma_mix32(seed + 0x9e3779b9u)) % limit; };
    const auto draw_units = [&] { return churn.sizes[draw(4)] + draw(2); };
    for (uint step = 0; step < 400; step++) {
        if (step % 50 == 49)
            check_taken<slab_calls>(heap);
        const bool takes = draw(4) < (step / 100 % 2 == 0 ? 3 : 1), by_warp = draw(16) < churn.warps;
        if (takes && by_warp) {
            slab_group group;
            const uint one = draw_units();
            const bool is_equal = draw(2) == 0;
            for (uint &each : group.units)
                each = is_equal ? one : draw_units();
            take_together(heap, group, log);
        } else if (takes) {
            static constexpr uint aligns[] = {1, 1, 1, 1, 1, 1, 1, 2, 4, 32, 64, 256}; // units
            const uint units = draw_units();
            take<slab_calls>(heap, units, log, aligns[draw(std::size(aligns))]);
        } else if (by_warp) { // blocks that were taken one after the other, mostly
            const uint count = std::min(static_cast<uint>(taken.size()), 32u);
            const auto first = taken.begin() + (taken.size() > 32 ? draw(static_cast<uint>(taken.size()) - 31) : 0);
            shim::lockstep::run(32, 0, [&](uint lane) { kma_slab_free(heap, lane < count ? first[lane] : nullptr); });
            taken.erase(first, first + count);
            log.works(true);
        } else if (!taken.empty()) {
            std::swap(taken[draw(static_cast<uint>(taken.size()))], taken.back());
            slab_kind::free(heap, taken.back());
            taken.pop_back();
        }
    }
    free_all<slab_calls>(heap, 5);
}

inline void check_slab_churns()
{
    for (const slab_churn &churn : slab_churns)
        for (uint seed = 0; seed < 12; seed++) {
            slab_kind::vary(seed % 3);
            slab_paged = churn.paged;
            slab_spare = seed % 3;
            check_slab_churn(churn, seed * 1000);
        }
    slab_kind::vary(1);
    slab_paged = KMA_SLAB_FRAME_UNITS;
}

} // namespace calls
