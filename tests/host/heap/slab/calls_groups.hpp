// The slab heap's calls by whole warps: what all lanes take and free together, rightly and wrongly.
#pragma once

#include "heap/slab/calls_blocks.hpp"

namespace calls {

// Each lane frees the block of lane `whose(lane)`, 32: none.
template <class Whose> void free_together(kma_slab *heap, const slab_group &group, const Whose &whose)
{
    const auto block_of = [&](uint lane) { return whose(lane) < 32 ? group.blocks[whose(lane)] : nullptr; };
    for (uint lane = 0; lane < group.lanes; lane++)
        forget(block_of(lane));
    shim::lockstep::run(group.lanes, 0, [&](uint lane) { kma_slab_free(heap, block_of(lane)); });
    check_taken<slab_calls>(heap);
}

// All that a group has, by one of six ways.
inline void check_slab_group_frees(kma_slab *heap, slab_log &log, const slab_group &group, uint how)
{
    const uint lanes = group.lanes, odd = how / 6 % lanes;
    const auto free_if = [&](const auto &is) {
        free_together(heap, group, [&](uint lane) { return is(lane) ? lane : 32; });
    };
    const auto free_in_two = [&](const auto &is_first) {
        free_if(is_first);
        free_if([&](uint lane) { return !is_first(lane); });
    };
    if (how % 6 == 0) {
        free_if([](uint) { return true; });
    } else if (how % 6 == 1) { // the other way round
        free_together(heap, group, [lanes](uint lane) { return lanes - 1 - lane; });
    } else if (how % 6 == 2) { // all but some, and then these
        free_in_two([](uint lane) { return lane % 5 != 3; });
    } else if (how % 6 == 3) { // one after the other
        for (uint n = 0; n < lanes; n++)
            free_if([n](uint lane) { return lane == n; });
    } else if (how % 6 == 4) { // by halves
        free_in_two([](uint lane) { return lane < 16; });
    } else { // with a lone caller's block instead of one's own
        slab_group other = group;
        other.blocks[odd] = take<slab_calls>(heap, slab_calls::has_room(heap, 400) ? 400 : 1, log);
        free_together(heap, other, [](uint lane) { return lane; });
        shim::check(!group.blocks[odd] || kma_slab_usable_size(heap, group.blocks[odd]) != 0,
                    "a block that nobody freed is gone");
        free_if([odd](uint lane) { return lane == odd; });
    }
    log.works(taken.empty());
}

// Groups of `lanes` take and free `units(seed, lane)` in turn; each in a heap of its own, or all in one.
struct slab_groups {
    uint seeds, frames, paged, cursors, many_shift, lanes; // 0: 32 lanes, in every seventh group 16
    bool shares_heap;
    uint (*units)(uint seed, uint lane);
};

inline uint mixed_units(uint seed, uint lane)
{
    const uint first = 1 + kma_mix32(seed) % (seed % 5 == 4 ? 50 : 12), random = kma_mix32(seed * 32 + lane + 1000);
    if (seed % 11 == 10 && random % 4 != 0)
        return 0;
    return seed % 3 == 0 ? first : seed % 3 == 1 ? 1 + random % first : first + random % 40;
}

// Sizes that a warp does not take side by side in some lanes or in all, or with coarse planes.
inline uint odd_units(uint seed, uint lane)
{
    const uint random = kma_mix32(seed * 32 + lane + 5);
    const bool is_odd = lane % 16 == seed % 16 && lane / 16 != seed / 16 % 3;
    return seed % 5 == 4 ? 300 + seed : is_odd ? 129 + random % (seed % 4 == 0 ? 300 : 128) : 1 + random % 20;
}

// More lines are drawn than a mixed slab may have.
inline uint long_units(uint seed, uint lane)
{
    return (seed % 2 == 0 ? 320 : 150) + kma_mix32(seed * 16 + lane) % 190;
}

inline void check_slab_groups()
{
    static constexpr slab_groups all[] = {{400, 12, 1, KMA_SLAB_CURSORS, 7, 0, true, mixed_units},
                                          {400, 12, KMA_SLAB_FRAME_UNITS, KMA_SLAB_CURSORS, 7, 0, true, mixed_units},
                                          {300, 28, KMA_SLAB_FRAME_UNITS, KMA_SLAB_CURSORS, 7, 32, false, odd_units},
                                          {40, 28, KMA_SLAB_FRAME_UNITS, 1, 9, 16, false, long_units}};
    for (const slab_groups &groups : all) {
        slab_paged = groups.paged;
        slab_many_shift = groups.many_shift;
        slab_calls::cursors = groups.cursors;
        slab_log log{new_heap<slab_calls>(slab_calls::bytes_of(groups.frames))};
        for (uint seed = 0; seed < groups.seeds; seed++) {
            if (!groups.shares_heap)
                log = {new_heap<slab_calls>(slab_calls::bytes_of(groups.frames))};
            slab_group group;
            group.lanes = groups.lanes != 0 ? groups.lanes : seed % 7 == 6 ? 16 : 32;
            for (uint lane = 0; lane < 32; lane++)
                group.units[lane] = groups.units(seed, lane);
            take_together(log.heap, group, log, groups.lanes == 32 && seed % 7 == 6 ? 1u << seed / 7 % 9 : 1);
            check_taken<slab_calls>(log.heap);
            check_slab_group_frees(log.heap, log, group, seed / 3);
        }
        take_all<slab_calls>(log.heap, 12, log); // what is left serves a lone caller as before
        free_all<slab_calls>(log.heap, 5);
    }
    slab_many_shift = 7;
    slab_calls::cursors = KMA_SLAB_CURSORS;
    kma_slab *const heap = new_heap<slab_calls>(slab_calls::bytes_of(3));
    slab_log log{heap};
    for (const size_t bytes : {(size_t{1} << 36) + 16, ~size_t{0}}) // more than a uint of units
        for (const uint every : {2u, 1u}) {
            shim::lockstep::run(32, 0, [&](uint lane) {
                shim::check(!kma_slab_malloc(heap, lane % every == 0 ? bytes : 0), "a block of more than there is");
            });
            log.expected[KMA_ERROR_TOO_LARGE] += 32 / every;
            log.works(true);
        }
    for (uint round = 0; round < 40; round++) { // until the heap is full, and further
        slab_group group;
        std::fill_n(group.units, 32, 1 + round % 2);
        take_together(heap, group, log);
    }
    check_taken<slab_calls>(heap);
    free_all<slab_calls>(heap, 7);
}

// What lane `lane` frees instead of its own block.
inline uchar *wrong_pointer(kma_slab *heap, const slab_group &group, uint how, uint lane)
{
    auto *const own = static_cast<uchar *>(group.blocks[lane]), *const first = static_cast<uchar *>(group.blocks[0]);
    const uint odd = how / 8 % 32;
    if (!own || !first) // the heap had no room for all
        return own;
    switch (how % 8) {
    case 0: // a unit further on
        return lane == odd ? own + KMA_UNIT : own;
    case 1:
        return static_cast<uchar *>(group.blocks[lane ^ (1 + odd % 31)]);
    case 2: // unit after unit
        return first + size_t{lane} * KMA_UNIT;
    case 3: // behind the heap, or in front of it
        return lane == odd ? odd % 2 == 0 ? unit(heap, heap->plan.limit) : base() - 64 : own;
    case 4: // twice
        return static_cast<uchar *>(group.blocks[lane == odd ? (lane + 1) % 32 : lane]);
    case 5: // the first lanes of teams
        return lane % 16 == 0 ? base() - 64 : own;
    case 6: // line after line
        return first + size_t{lane} * 256;
    default: // one size in front of the other
        return first + size_t{lane} * (1 + odd % 4) * KMA_UNIT;
    }
}

// Each pointer that is a block's frees it, once; each other one leaves a record.
inline void check_slab_wrong_frees()
{
    slab_paged = KMA_SLAB_FRAME_UNITS;
    for (uint seed = 0; seed < 8 * 32 * 4; seed++) {
        kma_slab *const heap = new_heap<slab_calls>(slab_calls::bytes_of(8));
        slab_log log{heap};
        slab_group group;
        for (uint lane = 0; lane < 32; lane++) {
            const uint random = 1 + kma_mix32(seed * 32 + lane) % 12;
            group.units[lane] = seed < 256 ? 2 : seed < 512 ? random : seed < 768 ? 40 : 100 + 8 * random;
        }
        take_together(heap, group, log);
        if (seed % 5 == 4 && group.blocks[seed % 32]) { // it frees this one again
            slab_kind::free(heap, group.blocks[seed % 32]);
            forget(group.blocks[seed % 32]);
        }
        uchar *pointers[32];
        uint wrong = 0;
        for (uint lane = 0; lane < 32; lane++)
            pointers[lane] = wrong_pointer(heap, group, seed, lane);
        for (uchar *const each : pointers)
            wrong += each != nullptr && !forget(each);
        shim::lockstep::run(32, 0, [&](uint lane) { kma_slab_free(heap, pointers[lane]); });
        const uint invalid = log.expected[KMA_ERROR_INVALID_FREE] = log.count(KMA_ERROR_INVALID_FREE);
        log.expected[KMA_ERROR_DOUBLE_FREE] = wrong - invalid;
        log.works(invalid <= wrong);
        check_taken<slab_calls>(heap);
        free_all<slab_calls>(heap, 3);
    }
}

} // namespace calls
