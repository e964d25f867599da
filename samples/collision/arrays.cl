// Bodies that attract each other and merge, by hand: arrays with one element per body of the start.
// A body that was merged into another one has mass 0 from then on: it attracts no other body, and
// loops over all bodies need no flag. Rules: rules.cl.
#include "rules.cl"

enum { nobody = -1 };

kernel void arrays_init(global float2 *places, global float2 *velocities, global float *masses)
{
    const uint i = (uint)get_global_id(0);
    if (i >= BODIES)
        return;
    places[i] = place_at_first(i);
    velocities[i] = velocity_at_first(i);
    masses[i] = mass_at_first(i);
}

static inline bool outweighs(global const float *masses, int one, int other)
{
    return masses[one] > masses[other] || (masses[one] == masses[other] && one < other);
}

// Notes a neighbour if it is the heaviest so far among the heavier ones (x) or the lighter ones
// (y).
static inline int2 meet(global const float *masses, int self, int other, int2 noted)
{
    if (outweighs(masses, other, self) && (noted.x == nobody || outweighs(masses, other, noted.x)))
        noted.x = other;
    if (outweighs(masses, self, other) && (noted.y == nobody || outweighs(masses, other, noted.y)))
        noted.y = other;
    return noted;
}

// The loop over all bodies has no branches and keeps the last neighbour only. A body with more
// neighbours, which is rare, searches again.
kernel void arrays_look(global const float2 *places, global float2 *velocities,
                        global const float *masses, global int2 *neighbours)
{
    const int self = (int)get_global_id(0);
    if (self >= (int)BODIES || masses[self] == 0)
        return;
    const float2 place = places[self];
    float2 pull = 0;
    int met = 0, last = self; // counts itself, too
    for (int other = 0; other < (int)BODIES; other++) {
        const float2 way = places[other] - place;
        const float distance2 = square(way);
        const float mass = masses[other];
        pull += way * (mass * strength(distance2));
        const bool meets = distance2 < NEAR && mass != 0;
        met += meets;
        last = meets && other != self ? other : last;
    }
    velocities[self] += TIME_STEP * GRAVITY * pull;
    int2 noted = (int2)(nobody, nobody);
    if (met == 2)
        noted = meet(masses, self, last, noted);
    else if (met > 2)
        for (int other = 0; other < (int)BODIES; other++)
            if (square(places[other] - place) < NEAR && other != self && masses[other] != 0)
                noted = meet(masses, self, other, noted);
    neighbours[self] = noted;
}

// Returns the body that merges into `self`, or nobody.
static inline int taken_in(global const int2 *neighbours, int self)
{
    const int2 near = neighbours[self];
    return near.y != nobody && near.x == nobody && neighbours[near.y].x == self ? near.y : nobody;
}

// A body that merges into another one returns. Its mass may already be 0, taken by the other body's
// work-item; it returns in either case.
kernel void arrays_merge_and_move(global float2 *places, global float2 *velocities,
                                  global float *masses, global const int2 *neighbours)
{
    const int self = (int)get_global_id(0);
    if (self >= (int)BODIES || masses[self] == 0)
        return;
    const int heavier = neighbours[self].x, other = taken_in(neighbours, self);
    if (heavier != nobody && taken_in(neighbours, heavier) == self)
        return;
    float2 place = places[self], velocity = velocities[self];
    if (other != nobody) {
        const float mass = masses[self], others_mass = masses[other];
        place = mean(place, mass, places[other], others_mass);
        velocity = mean(velocity, mass, velocities[other], others_mass);
        masses[self] = mass + others_mass;
        masses[other] = 0;
    }
    move(&place, &velocity);
    places[self] = place;
    velocities[self] = velocity;
}
