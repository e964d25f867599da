// Bodies that attract each other and merge, as objects. The rules: rules.cl. A Body has its number, place, velocity and mass; the heaviest
// of the heavier ones that are near, and the heaviest of the lighter ones, or 0; and whether another one took it in.
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
    return mass > others_mass || (mass == others_mass && Body_number(w, one) < Body_number(w, other));
}

// One loop for attraction and for neighbours, at the same places; nobody else reads the velocity meanwhile.
static inline void body_look(global kma_world *w, Body self)
{
    const float2 place = Body_place(w, self);
    float2 pull = 0;
    Body heavier = 0, lighter = 0;
    Body_for_each(w, other) {
        const float2 way = Body_place(w, other) - place;
        const float distance2 = square(way);
        pull += way * (Body_mass(w, other) * strength(distance2));
        if (distance2 >= NEAR)
            continue;
        if (outweighs(w, other, self) && (heavier == 0 || outweighs(w, other, heavier)))
            heavier = other;
        if (outweighs(w, self, other) && (lighter == 0 || outweighs(w, other, lighter)))
            lighter = other;
    }
    Body_velocity(w, self) += TIME_STEP * GRAVITY * pull;
    Body_heavier(w, self) = heavier;
    Body_lighter(w, self) = lighter;
}

// Who is merged into a body, or 0.
static inline Body taken_in(global kma_world *w, Body self)
{
    const Body other = Body_lighter(w, self);
    return other != 0 && Body_heavier(w, self) == 0 && Body_heavier(w, other) == self ? other : 0;
}

// Who is taken in stays as it is, to be read by the one who does; the others write their own fields only.
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

static inline void body_end(global kma_world *w, Body self)
{
    if (Body_ends(w, self))
        Body_delete(w, self);
}
