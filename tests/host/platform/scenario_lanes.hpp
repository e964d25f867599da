// The functions that lanes.cl derives from four primitives, against plain computation, in whatever sets the lanes meet.
#pragma once

#include "kma/platform/lanes.cl"

template <uint threads> class scenario {
public:
    void before()
    {
        for (uint id = 0; id < threads; id++) {
            inputs_[id] = 0;
            told_[id] = 0;
        }
        variant_ = shim::random(1 << 15);
    }

    void thread(uint me)
    {
        const uint rounds = shim::chosen.rounds ? shim::chosen.rounds : shim::is_model_checker ? 2 : 8;
        const uint first_of_group = shim::self().group ? me - shim::self().slot : me;
        for (uint round = 0; round < rounds; round++) {
            inputs_[me].store(input(me, round), std::memory_order_relaxed);
            if (input(me, round + 32) % 4 == 0)
                continue; // by chance a lane sits out
            const kma_lanes group = kma_lanes_active();
            // All have come before any reads the inputs, and all have read before any writes its next.
            kma_lanes_ballot(group, true);
            uint brought[64] = {};
            for (uint lane = 0; lane < 64; lane++)
                if (group >> lane & 1)
                    brought[lane] = inputs_[first_of_group + slot_of(lane)].load(std::memory_order_relaxed);
            kma_lanes_ballot(group, true);
            check_set(group);
            check_values(group, brought);
            check_sync(group, me, brought);
        }
    }

    void after() {}

private:
    static uint slot_of(uint lane)
    {
        for (uint slot = 0; slot < shim::group_lanes; slot++)
            if (shim::self().group && shim::lane_numbers[slot] == lane)
                return slot;
        return 0;
    }

    // Small values, so that some agree, and huge ones, so that sums saturate.
    uint input(uint me, uint round) const
    {
        uint x = (variant_ * 64 + me) * 64 + round;
        x = (x ^ (x >> 15)) * 0x2c1b3c6du;
        x ^= x >> 12;
        return x & 0x100 ? 0xfffffff0u | (x & 15) : x & 7;
    }

    static void check_set(kma_lanes group)
    {
        const uint me = kma_lane_id();
        uint before = 0, count = 0, first = 64;
        for (uint lane = 64; lane-- != 0;)
            if (group >> lane & 1) {
                count++;
                before += lane < me;
                first = lane;
            }
        shim::check(kma_lane_in(group), "a lane is not in its own set");
        shim::check(!kma_lane_in(~group), "a lane is in a set that it is not in");
        shim::check(kma_lanes_count(group) == count, "count");
        shim::check(kma_lane_rank(group) == before, "rank");
        shim::check(kma_lane_leads(group) == (me == first), "leads");
        shim::check(kma_lowest_bit(group) == first, "lowest bit");
    }

    static void check_values(kma_lanes group, const uint (&brought)[64])
    {
        const uint me = kma_lane_id();
        const uint mine = brought[me];
        const uint first = kma_lowest_bit(group);
        ulong before = 0, total = 0;
        kma_lanes odd = 0, same = 0, same_low = 0, alike = 0;
        for (uint lane = 0; lane < 64; lane++)
            if (group >> lane & 1) {
                const kma_lanes bit = kma_lanes{1} << lane;
                total += brought[lane];
                before += lane < me ? brought[lane] : 0;
                odd |= brought[lane] & 1 ? bit : 0;
                same |= brought[lane] == mine ? bit : 0;
                same_low |= (brought[lane] & 3) == (mine & 3) ? bit : 0;
                alike |= brought[lane] == brought[first] ? bit : 0;
                shim::check(kma_lanes_shuffle(group, mine, lane) == brought[lane], "shuffle");
            }
        const kma_scan scan = kma_lanes_scan(group, mine);
        shim::check(scan.before == min<ulong>(before, UINT_MAX), "scan: before");
        shim::check(scan.total == min<ulong>(total, UINT_MAX), "scan: total");
        shim::check(kma_lanes_ballot(group, mine & 1) == odd, "ballot");
        shim::check(kma_lanes_first(group, mine) == brought[first], "first");
        shim::check(kma_lanes_match(group, mine, 32) == same, "match: 32 bits");
        shim::check(kma_lanes_match(group, mine, 2) == same_low, "match: 2 bits");
        const ulong key = ulong{mine & 0xff} << 32 | mine >> 8; // both halves matter
        shim::check(kma_lanes_alike(group, key) == alike, "alike");
    }

    // Plain fields: under Relacy a defect unless the first sync orders the writes before the reads, and the second the
    // reads before the next round's writes, for every pair of lanes.
    void check_sync(kma_lanes group, uint me, const uint (&brought)[64])
    {
        const uint first_of_group = shim::self().group ? me - shim::self().slot : me;
        told_[me] = brought[kma_lane_id()];
        kma_lanes_sync(group);
        for (uint lane = 0; lane < 64; lane++)
            if (group >> lane & 1)
                shim::check(told_[first_of_group + slot_of(lane)] == brought[lane], "sync");
        kma_lanes_sync(group);
    }

    KMA_PLAIN(uint) told_[threads];
    std::atomic<uint> inputs_[threads]; // the test's own, no order asked of it
    uint variant_ = 0;
};
