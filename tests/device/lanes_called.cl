// Lanes that come together in a function: it is called in several arms, at different times, and leaves a loop at
// different turns, so that several groups of a warp or sub-group are in it at once.
#include "kma/platform/lanes.cl"

// NVIDIA's compiler calls long functions, and its assembler makes other code of lanes in what is called. Intel's computes
// wrong values around calls (docs/porting.md), and is not asked to.
#if KMA_IS_NV
#define CALLED __attribute__((noinline))
#else
#define CALLED inline
#endif

typedef struct called_sight {
    ulong group;
    ulong ballot; // of lanes with bit 0 of `value`
    ulong match;  // of lanes with the same `value`
    ulong later;  // of lanes with bit 1 of `value`, after the group parted and met again
    uint token;   // the leader's id
    uint lane;
} called_sight;

static CALLED uint look(global called_sight *sight, uint me, uint value)
{
    uint rest = value * 7 + 3;
    uint turns = 0;
    while (rest % 4 != 0) { // lanes leave at different turns
        rest = rest / 3 + turns;
        turns++;
    }
    const kma_lanes group = kma_lanes_active();
    sight->group = group;
    sight->token = kma_lanes_first(group, me);
    sight->ballot = kma_lanes_ballot(group, (value & 1) != 0);
    for (uint round = 0; round < 3; round++) {
        sight->match = kma_lanes_match(group, value, 3);
        if (kma_lane_rank(group) % 2 == round % 2) // parts the group
            turns += kma_mix32(turns + round) % 5;
        sight->later = kma_lanes_ballot(group, (value & 2) != 0);
    }
    sight->lane = kma_lane_id();
    return turns;
}

kernel void calls(global called_sight *sights, global uint *turns)
{
    const uint me = (uint)get_global_id(0);
    const uint random = kma_mix32(me);
    const uint mine = random % 4;
    uint sum = 0;
    for (uint turn = 0; turn <= mine; turn++) {
        if (turn < mine)
            continue;
        switch (mine) {
        case 0:
            sum = look(&sights[me], me, random >> 8 & 7);
            break;
        case 1:
            sum = look(&sights[me], me, random >> 12 & 7) + 1;
            break;
        case 2:
            sum = look(&sights[me], me, random >> 16 & 7) + 2;
            break;
        default:
            sum = look(&sights[me], me, random >> 20 & 7) + 3;
        }
    }
    turns[me] = sum;
}
