// What a lane observes of its group: for the selftest, and for the tests of platform/lanes.cl.
#ifndef KMA_SELFTEST_LANES_CL
#define KMA_SELFTEST_LANES_CL

#include "kma/selftest/layout.cl"
#include "kma/platform/lanes.cl"

// Calls functions of platform/lanes.cl, and records arguments and results in the work-item's next
// sight; it has `most`. `spread`: the values' shift to the right; with 0 sums pass 2^32.
static inline void kma_selftest_look(global kma_selftest_sight *sights, uint most, uint *visits,
                                     uint place, uint spread)
{
    const uint visit = *visits;
    if (visit >= most) // the control flow goes wrong on this device
        return;
    *visits = visit + 1;
    const uint token = (uint)get_global_id(0) * most + visit;
    global kma_selftest_sight *out = &sights[token];
    const uint random = kma_mix32(token);
    const uint value = random >> spread;
    const uint classes = (random >> 7) % 3u * 0x80000001u; // differ in high bits
    const ulong key = ((ulong)((random >> 11) & 1) << (random & 1 ? 40 : 3)) + 0x100000010ul;

    const kma_lanes group = kma_lanes_active();
    out->token = kma_lanes_first(group, token);
    const kma_lanes above = group & ~kma_bits_below(kma_lane_id()) & ~(1ul << kma_lane_id());
    const uint next = kma_lowest_bit(above ? above : group);
    out->next_value = kma_lanes_shuffle(group, value, next);
    out->ballot = kma_lanes_ballot(group, (value & 1) != 0);
    out->match3 = kma_lanes_match(group, value, 3);
    out->match32 = kma_lanes_match(group, classes, 32);
    const kma_lanes alike = kma_lanes_alike(group, key);
    const kma_scan scan = kma_lanes_scan(group, value);

    out->group = group;
    out->alike = alike;
    out->key = key;
    out->place = place;
    out->lane = kma_lane_id();
    out->rank = kma_lane_rank(group);
    out->count = kma_lanes_count(group);
    out->flags = (kma_lane_leads(group) ? 1 : 0) | (kma_lane_in(alike) ? 2 : 0);
    out->value = value;
    out->next = next;
    out->before = scan.before;
    out->total = scan.total;
    out->classes = classes;
}

#endif
