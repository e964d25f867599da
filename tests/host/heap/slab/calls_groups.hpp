// The slab heap's calls by whole warps: what all lanes take and free together, rightly and wrongly.
#pragma once

#include <algorithm>

#include "heap/slab/calls_blocks.hpp"

namespace calls {

// A group's blocks, by lane.
struct slab_group {
    uint lanes = 32;
    void *blocks[32] = {};
};

inline void take_together(kma_slab *heap, slab_group &group, const uint *units, slab_log &log,
                          uint align = 1)
{
    shim::lockstep::run(group.lanes, 0, [&](uint lane) {
        group.blocks[lane] =
            units[lane] != 0
                ? kma_slab_aligned_alloc(heap, align * KMA_UNIT, size_t{units[lane]} * KMA_UNIT)
                : nullptr;
    });
    for (uint lane = 0; lane < group.lanes; lane++) {
        if (units[lane] != 0 && !group.blocks[lane]) // too many classes for so few frames
            log.expected[KMA_ERROR_OUT_OF_MEMORY]++;
        if (!group.blocks[lane])
            continue;
        shim::check(slab_unit_of(heap, group.blocks[lane]) % align == 0, "a block is not aligned");
        shim::check(kma_slab_usable_size(heap, group.blocks[lane]) >= units[lane] * KMA_UNIT,
                    "a block is too small");
        taken.blocks[taken.count++] = group.blocks[lane];
    }
    check_slab_books(heap);
}

// Each lane frees the block of lane `whose(lane)`, 32: none.
template <class Whose>
void free_together(kma_slab *heap, const slab_group &group, const Whose &whose)
{
    for (uint lane = 0; lane < group.lanes; lane++)
        if (whose(lane) < 32 && group.blocks[whose(lane)])
            *std::find(taken.blocks, taken.blocks + taken.count, group.blocks[whose(lane)]) =
                taken.blocks[taken.count - 1],
                                                                 taken.count--;
    shim::lockstep::run(group.lanes, 0, [&](uint lane) {
        kma_slab_free(heap, whose(lane) < 32 ? group.blocks[whose(lane)] : nullptr);
    });
    check_slab_books(heap);
}

inline void check_slab_group_frees(kma_slab *heap, slab_log &log, const slab_group &group, uint how)
{
    const uint lanes = group.lanes;
    switch (how % 6) {
    case 0:
        free_together(heap, group, [](uint lane) { return lane; });
        break;
    case 1: // the other way round
        free_together(heap, group, [lanes](uint lane) { return lanes - 1 - lane; });
        break;
    case 2: // all but some, and then these
        free_together(heap, group, [](uint lane) { return lane % 5 == 3 ? 32 : lane; });
        free_together(heap, group, [](uint lane) { return lane % 5 == 3 ? lane : 32; });
        break;
    case 3: // one after the other
        for (uint n = 0; n < lanes; n++)
            free_together(heap, group, [n](uint lane) { return lane == n ? lane : 32; });
        break;
    case 4: // by halves
        free_together(heap, group, [](uint lane) { return lane < 16 ? lane : 32; });
        free_together(heap, group, [](uint lane) { return lane >= 16 ? lane : 32; });
        break;
    default: { // with a lone caller's block instead of one's own
        slab_group other = group;
        const uint odd = how / 6 % lanes, lone_units = slab_metadata(heap).has_room(400) ? 400 : 1;
        void *const lone = slab_kind::malloc(heap, lone_units * KMA_UNIT);
        if (!lone) // pages of too many classes
            log.expected[KMA_ERROR_OUT_OF_MEMORY]++;
        else
            taken.blocks[taken.count++] = lone;
        other.blocks[odd] = lone;
        free_together(heap, other, [](uint lane) { return lane; });
        shim::check(!group.blocks[odd] || kma_slab_usable_size(heap, group.blocks[odd]) != 0,
                    "a block that nobody freed is gone");
        free_together(heap, group, [odd](uint lane) { return lane == odd ? lane : 32; });
    }
    }
    shim::self().operations = 0;
    log.works(true);
    shim::check(taken.count == 0, "blocks are left");
}

// Sizes that are equal, or differ a little or much, or are nothing in some lanes.
inline void check_slab_groups(uint paged)
{
    slab_paged = paged;
    kma_slab *const heap = new_slab(slab_bytes(12), 0, 1);
    slab_log log{heap};
    for (uint seed = 0; seed < 400; seed++) {
        slab_group group;
        group.lanes = seed % 7 == 6 ? 16 : 32;
        uint units[32];
        const uint first = 1 + kma_mix32(seed) % (seed % 5 == 4 ? 50 : 12);
        for (uint lane = 0; lane < 32; lane++) {
            const uint random = kma_mix32(seed * 32 + lane + 1000);
            units[lane] = seed % 3 == 0   ? first
                          : seed % 3 == 1 ? 1 + random % first
                                          : first + random % 40;
            if (seed % 11 == 10)
                units[lane] = random % 4 == 0 ? 0 : units[lane];
        }
        take_together(heap, group, units, log);
        check_slab_group_frees(heap, log, group, seed / 3);
    }
    take_all_of(heap, 12, log); // what is left serves a lone caller as before
    free_all_of(heap, 5);
}

// Sizes that a warp does not take side by side in some lanes or in all, or with coarse planes; and
// alignments.
inline void check_slab_group_sizes()
{
    slab_paged = KMA_SLAB_FRAME_UNITS;
    for (uint seed = 0; seed < 300; seed++) {
        kma_slab *const heap = new_slab(slab_bytes(28), 0, 1);
        slab_log log{heap};
        slab_group group;
        uint units[32];
        for (uint lane = 0; lane < 32; lane++) {
            const uint random = kma_mix32(seed * 32 + lane + 5);
            const bool is_odd = lane % 16 == seed % 16 && lane / 16 != seed / 16 % 3;
            units[lane] = is_odd ? 129 + random % (seed % 4 == 0 ? 300 : 128) : 1 + random % 20;
            if (seed % 5 == 4)
                units[lane] = 300 + seed;
        }
        take_together(heap, group, units, log, seed % 7 == 6 ? 1u << seed / 7 % 9 : 1);
        check_slab_group_frees(heap, log, group, seed / 3);
    }
    slab_many_shift = 9; // so that more lines are drawn than a mixed slab may have
    for (uint seed = 0; seed < 40; seed++) {
        kma_slab *const heap = new_slab(slab_bytes(28), 0, 1, 1);
        slab_log log{heap};
        slab_group group;
        group.lanes = 16;
        uint units[32];
        for (uint lane = 0; lane < 16; lane++)
            units[lane] = (seed % 2 == 0 ? 320 : 150) + kma_mix32(seed * 16 + lane) % 190;
        take_together(heap, group, units, log);
        check_slab_group_frees(heap, log, group, seed / 2);
    }
    slab_many_shift = 7;
    kma_slab *const heap = new_slab(slab_bytes(3), 0, 1);
    slab_log log{heap};
    for (const size_t bytes : {(size_t{1} << 36) + 16, ~size_t{0}}) { // more than a uint of units
        shim::lockstep::run(32, 0, [&](uint lane) {
            shim::check(!kma_slab_malloc(heap, lane % 2 == 0 || bytes % 2 != 0 ? bytes : 0),
                        "a block of more than there is");
        });
        log.expected[KMA_ERROR_TOO_LARGE] += bytes % 2 == 0 ? 16 : 32;
        log.works(true);
        shim::lockstep::run(32, 0, [&](uint) {
            shim::check(!kma_slab_malloc(heap, bytes), "a block of more than there is");
        });
        log.expected[KMA_ERROR_TOO_LARGE] += 32;
        log.works(true);
    }
    for (uint round = 0; round < 40; round++) { // until the heap is full, and further
        slab_group group;
        uint units[32];
        std::fill_n(units, 32, 1 + round % 2);
        take_together(heap, group, units, log);
    }
    free_all_of(heap, 7);
}

// What lane `lane` frees instead of its own block.
inline uchar *wrong_pointer(kma_slab *heap, const slab_group &group, uint how, uint lane)
{
    auto *const own = static_cast<uchar *>(group.blocks[lane]);
    auto *const first = static_cast<uchar *>(group.blocks[0]);
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
        return lane == odd ? odd % 2 == 0 ? slab_unit(heap, heap->plan.limit) : base() - 64 : own;
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
        kma_slab *const heap = new_slab(slab_bytes(8), 0, 1);
        slab_log log{heap};
        slab_group group;
        uint units[32];
        const uint kind = seed / 256;
        for (uint lane = 0; lane < 32; lane++) {
            const uint random = 1 + kma_mix32(seed * 32 + lane) % 12;
            units[lane] = kind == 0 ? 2 : kind == 1 ? random : kind == 2 ? 40 : 100 + 8 * random;
        }
        take_together(heap, group, units, log);
        if (seed % 5 == 4 && group.blocks[seed % 32]) { // it frees this one again
            slab_kind::free(heap, group.blocks[seed % 32]);
            void **const its =
                std::find(taken.blocks, taken.blocks + taken.count, group.blocks[seed % 32]);
            *its = taken.blocks[--taken.count];
        }
        uchar *pointers[32];
        for (uint lane = 0; lane < 32; lane++)
            pointers[lane] = wrong_pointer(heap, group, seed, lane);
        uint freed = 0, nulls = 0;
        for (uchar *const each : pointers) {
            void **const its = std::find(taken.blocks, taken.blocks + taken.count, each);
            nulls += each == nullptr;
            if (its == taken.blocks + taken.count)
                continue;
            *its = taken.blocks[--taken.count];
            freed++;
        }
        shim::lockstep::run(32, 0, [&](uint lane) { kma_slab_free(heap, pointers[lane]); });
        const uint invalid =
            kma_load_u32(&heap->header.errors.count[KMA_ERROR_INVALID_FREE], KMA_RELAXED);
        log.expected[KMA_ERROR_INVALID_FREE] = invalid;
        log.expected[KMA_ERROR_DOUBLE_FREE] = 32 - nulls - freed - invalid;
        log.works(invalid <= 32 - nulls - freed);
        check_slab_books(heap);
        free_all_of(heap, 3);
    }
}

} // namespace calls
