// Both arms of an `if` begin with the same call. A compiler that makes one call of the two, in front of the `if`, would
// give each arm the lanes of both.
#include "kma/platform/lanes.cl"

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
