// kma/platform/lanes.cl observed in all kinds of control flow. The host repeats the flow and checks each observation. What
// is observed, and how it is judged, is the selftest's.
#include "kma/selftest/lanes.cl"

#define VISITS 32

static inline void look(global kma_selftest_sight *sights, uint *visits, uint place, uint spread)
{
    kma_selftest_look(sights, VISITS, visits, place, spread);
}

static inline void leaves_early(global kma_selftest_sight *sights, uint *visits, uint spread, uint me)
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
kernel void together(global kma_selftest_sight *sights, global uint *visits_made, uint spread)
{
    uint visits = 0;
    look(sights, &visits, 0, spread);
    look(sights, &visits, 1, spread);
    visits_made[get_global_id(0)] = visits;
}

// The host's flow_of() in lanes_test.cpp is the same flow.
kernel void apart(global kma_selftest_sight *sights, global uint *visits_made, uint spread)
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

// Both arms of an `if` begin with the same call. A compiler that makes one call of the two, in front of the `if`, would
// give each arm the lanes of both.
typedef struct arm_sight {
    ulong group;
    ulong ballot; // of lanes with bit 1 of their id
    uint token;   // the leader's id
    uint lane;
} arm_sight;

kernel void arms(global arm_sight *sights)
{
    const uint me = (uint)get_global_id(0);
    ulong group, ballot;
    uint token;
    if (me & 1) {
        group = kma_lanes_active();
        ballot = kma_lanes_ballot(group, (me & 2) != 0);
        token = kma_lanes_first(group, me);
    } else {
        group = kma_lanes_active();
        token = kma_lanes_first(group, me);
        ballot = kma_lanes_ballot(group, (me & 2) != 0);
    }
    sights[me].group = group;
    sights[me].ballot = ballot;
    sights[me].token = token;
    sights[me].lane = kma_lane_id();
}
