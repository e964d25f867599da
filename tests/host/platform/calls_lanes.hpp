// The functions that lanes.cl derives from four primitives, against plain computation, in sets of up to 64 lanes with
// holes.
#pragma once

#include "kma/platform/bits.cl"
#include "kma/platform/lanes.cl"

namespace calls {

// Small values, so that some agree, and huge ones, so that sums saturate.
inline uint lane_input(uint seed, uint lane)
{
    const uint x = kma_mix32(seed * 64 + lane);
    return x & 0x100 ? 0xfffffff0u | (x & 15) : x & 7;
}

inline void check_lane(uint seed, uint me)
{
    const kma_lanes group = kma_lanes_active();
    const uint mine = lane_input(seed, me), first = static_cast<uint>(std::countr_zero(group));
    ulong before = 0, total = 0;
    uint joined = 0; // of odd lanes
    kma_lanes odd = 0, same = 0, same_low = 0, alike = 0;
    for (uint lane = 0; lane < 64; lane++) {
        const kma_lanes bit = kma_lanes{1} << lane;
        const uint its = lane_input(seed, lane);
        if ((group & bit) == 0)
            continue;
        total += its;
        before += lane < me ? its : 0;
        odd |= (its & 1) != 0 ? bit : 0;
        joined |= (its & 1) != 0 ? its : 0;
        same |= its == mine ? bit : 0;
        same_low |= (its & 3) == (mine & 3) ? bit : 0;
        alike |= its == lane_input(seed, first) ? bit : 0;
        shim::check(kma_lanes_shuffle(group, mine, lane) == its, "shuffle");
    }
    const kma_lanes front = group & ((kma_lanes{1} << me) - 1);
    shim::check(kma_lane_in(group) && !kma_lane_in(~group), "a lane is not in its own set, or in another");
    shim::check(kma_lanes_count(group) == popcount(group) && kma_lane_rank(group) == popcount(front), "count and rank");
    shim::check(kma_lane_leads(group) == (me == first) && kma_lowest_bit(group) == first, "the first lane");
    const kma_scan scan = kma_lanes_scan(group, mine);
    shim::check(scan.before == min<ulong>(before, UINT_MAX) && scan.total == min<ulong>(total, UINT_MAX), "scan");
    shim::check(kma_lanes_ballot(group, mine & 1) == odd && kma_lanes_or(group, odd, mine) == joined, "ballot and or");
    shim::check(kma_lanes_first(group, mine) == lane_input(seed, first), "first");
    shim::check(kma_lanes_match(group, mine, 32) == same && kma_lanes_match(group, mine, 2) == same_low, "match");
    shim::check(kma_lanes_alike(group, ulong{mine & 0xff} << 32 | mine >> 8) == alike, "alike"); // both halves matter
}

inline void check_lanes()
{
    static constexpr uint sizes[] = {1, 2, 5, 31, 32, 64};
    for (uint seed = 0; seed < 120; seed++)
        shim::lockstep::run(sizes[seed % std::size(sizes)], 0, [seed](uint lane) {
            if (kma_mix32(seed * 999 + lane) % 4 != 0) // by chance a lane sits out
                check_lane(seed, lane);
        });
}

} // namespace calls
