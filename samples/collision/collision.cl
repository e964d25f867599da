// Bodies that attract each other and merge, as objects. Rules: rules.cl. A Body has its number,
// place, velocity and mass; its heaviest heavier neighbour, and its heaviest lighter neighbour, or
// 0; and whether it merges into another body.
#include "rules.cl"

static inline void body_init(global kma_world *w, Body self, uint number)
{
    Body_number(w, self) = number;
    Body_place(w, self) = place_at_first(number);
    Body_velocity(w, self) = velocity_at_first(number);
    Body_mass(w, self) = mass_at_first(number);
}

static inline bool outweighs(global kma_world *w, Body one, Body other)
{
    const float mass = Body_mass(w, one), others_mass = Body_mass(w, other);
    return mass > others_mass ||
           (mass == others_mass && Body_number(w, one) < Body_number(w, other));
}

// Notes a neighbour if it is the heaviest so far among the heavier or the lighter ones.
static inline void meet(global kma_world *w, Body self, Body other, Body *heavier, Body *lighter)
{
    if (outweighs(w, other, self) && (*heavier == 0 || outweighs(w, other, *heavier)))
        *heavier = other;
    if (outweighs(w, self, other) && (*lighter == 0 || outweighs(w, other, *lighter)))
        *lighter = other;
}

// One loop computes attraction and finds neighbours, from the same places; no other work-item reads
// the velocity meanwhile. This loop takes most of the time: it goes through arrays, has no
// branches, and keeps the last neighbour only. A body with more neighbours, which is rare, searches
// again.
static inline void body_look(global kma_world *w, Body self)
{
    const float2 place = Body_place(w, self);
    float2 pull = 0;
    uint neighbours = 0; // counts itself, too
    Body last = 0, heavier = 0, lighter = 0;
    Body_for_each_run(w, run) {
        global const float2 *places = Body_place_at(w, run.first);
        global const float *masses = Body_mass_at(w, run.first);
        for (uint k = 0; k < run.count; k++) {
            const float2 way = places[k] - place;
            const float distance2 = square(way);
            pull += way * (masses[k] * strength(distance2));
            neighbours += distance2 < NEAR;
            last = distance2 < NEAR && run.first + k != self ? run.first + k : last;
        }
    }
    Body_velocity(w, self) += TIME_STEP * GRAVITY * pull;
    if (neighbours == 2)
        meet(w, self, last, &heavier, &lighter);
    else if (neighbours > 2)
        Body_for_each(w, other)
            if (square(Body_place(w, other) - place) < NEAR && other != self)
                meet(w, self, other, &heavier, &lighter);
    Body_heavier(w, self) = heavier;
    Body_lighter(w, self) = lighter;
}

// Returns the body that merges into `self`, or 0.
static inline Body taken_in(global kma_world *w, Body self)
{
    const Body other = Body_lighter(w, self);
    return other != 0 && Body_heavier(w, self) == 0 && Body_heavier(w, other) == self ? other : 0;
}

// A body that ends is not changed: the body that takes it in reads it. The others write only their
// own fields.
static inline void body_merge_and_move(global kma_world *w, Body self)
{
    const Body heavier = Body_heavier(w, self), other = taken_in(w, self);
    const bool ends = heavier != 0 && taken_in(w, heavier) == self;
    Body_ends(w, self) = ends;
    if (ends)
        return;
    float2 place = Body_place(w, self), velocity = Body_velocity(w, self);
    if (other != 0) {
        const float mass = Body_mass(w, self), others_mass = Body_mass(w, other);
        place = mean(place, mass, Body_place(w, other), others_mass);
        velocity = mean(velocity, mass, Body_velocity(w, other), others_mass);
        Body_mass(w, self) = mass + others_mass;
    }
    move(&place, &velocity);
    Body_place(w, self) = place;
    Body_velocity(w, self) = velocity;
}

// Deletes a body that ends. A body that stays clears its neighbours, which may be deleted now.
static inline void body_end(global kma_world *w, Body self)
{
    if (Body_ends(w, self)) {
        Body_delete(w, self);
    } else if ((Body_heavier(w, self) | Body_lighter(w, self)) != 0) {
        Body_heavier(w, self) = 0;
        Body_lighter(w, self) = 0;
    }
}
