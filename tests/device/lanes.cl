// kma/platform/lanes.cl observed in all kinds of control flow. The host repeats the flow and checks each observation.
#include "kma/platform/lanes.cl"

// What one lane saw and gave at one place.
typedef struct sight {
    ulong group;
    ulong ballot; // of lanes that gave bit 0 of `value`
    ulong match3; // by the three low bits of `value`
    ulong match32;
    ulong alike;
    ulong key; // given to alike
    uint token; // of the leader: his work-item and visit. The same for all who were together, and for nobody else.
    uint place;
    uint lane, rank, count;
    uint flags; // bit 0: leads, bit 1: in `alike`
    uint value; // given
    uint next, next_value; // a lane of the group, and its value by shuffle
    uint before, total;
    uint classes; // given to match32
} sight;

#define VISITS 32

// `spread`: how far values are shifted down; 0 makes sums overflow.
static inline void look(global sight *sights, uint *visits, uint place, uint spread)
{
    const uint me = (uint)get_global_id(0);
    const uint visit = (*visits)++;
    global sight *out = &sights[me * VISITS + visit];
    const uint random = kma_mix32(me * VISITS + visit);
    const uint value = random >> spread;
    const uint classes = (random >> 7) % 3 * 0x80000001u; // differ in high bits
    const ulong key = ((ulong)((random >> 11) & 1) << (random & 1 ? 40 : 3)) + 0x100000010ul;

    const kma_lanes group = kma_lanes_active();
    out->token = kma_lanes_first(group, me * VISITS + visit);
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

static inline void leaves_early(global sight *sights, uint *visits, uint spread, uint me)
{
    if (me % 5 == 0)
        return;
    look(sights, visits, 10, spread);
    for (uint i = 0; i < 4; i++) {
        if (i == me % 6)
            return;
        look(sights, visits, 11, spread);
    }
}

// Without branches.
kernel void together(global sight *sights, global uint *visits_made, uint spread)
{
    uint visits = 0;
    look(sights, &visits, 0, spread);
    look(sights, &visits, 1, spread);
    visits_made[get_global_id(0)] = visits;
}

// The host's flow_of() in lanes_test.cpp is the same flow.
kernel void apart(global sight *sights, global uint *visits_made, uint spread)
{
    const uint me = (uint)get_global_id(0);
    uint visits = 0;
    if (me & 1)
        look(sights, &visits, 1, spread);
    else
        look(sights, &visits, 2, spread);

    switch (me % 5) {
    case 0:
        look(sights, &visits, 3, spread);
        break;
    case 1:
        look(sights, &visits, 4, spread); // falls through
    case 2:
        look(sights, &visits, 5, spread);
        break;
    case 3:
        break;
    default:
        look(sights, &visits, 6, spread);
    }

    for (uint i = 0; i < kma_mix32(me) % 5; i++)
        look(sights, &visits, 7, spread);

    for (uint i = 0; i < 6; i++) {
        if (((me + i) & 1) != 0)
            continue;
        if (i == me % 7)
            break;
        look(sights, &visits, 8, spread);
    }

    if (me % 3 != 0)
        for (uint i = 0; i < 2; i++) {
            uint n = (me >> i) & 3;
            while (n-- > 0)
                if (me & 4)
                    look(sights, &visits, 9, spread);
        }

    leaves_early(sights, &visits, spread, me);
    visits_made[me] = visits;
    if (me % 11 == 3)
        return;
    look(sights, &visits, 12, spread);
    visits_made[me] = visits;
}
