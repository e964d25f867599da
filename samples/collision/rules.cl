// The rules of bodies that attract each other and merge, which all versions share. After DynaSOAr's
// sample (Springer and Masuhara, ECOOP 2019, appendix A), with the constants of its
// example/collision/configuration.h. There a race decides which bodies merge. Here places, masses
// and numbers decide, not the order of work-items: all versions agree on every merger after any
// number of steps.
//
// Bodies are in the square from -1 to 1. In a step
//
// 1. each body visits all others. Each of them accelerates it by
//    GRAVITY * mass / (distance^2 + DAMPING). Among those nearer than MERGE_DISTANCE, the body
//    notes the heaviest heavier one, and the heaviest lighter one; of two equal masses the body
//    with the smaller number counts as heavier;
// 2. a body without a heavier neighbour takes in the lighter one that it noted, if that one noted
//    it, too. The collision is perfectly inelastic: masses and momenta add up, and the new place is
//    the common centre of mass. No body takes part in two mergers. Each cluster has at least one
//    merger: the heaviest body with its heaviest neighbour;
// 3. the remaining bodies move, and the walls reflect them.
//
// Masses are integers with a sum of at most 2^24: sums are exact in single precision.
//
// The program defines BODIES, SEED, GRAVITY, TIME_STEP, DAMPING, MERGE_DISTANCE; MAX_MASS of a body
// at the start, where the smallest is half of it; SPEED, the width of the range of initial
// velocities, per axis.
#ifndef COLLISION_RULES_CL
#define COLLISION_RULES_CL

#include "kma/platform/bits.cl"

#ifndef BODIES // lets this file compile alone
#define BODIES         2000u
#define SEED           42u
#define GRAVITY        1e-7f
#define TIME_STEP      0.1f
#define DAMPING        0.05f
#define MERGE_DISTANCE 0.01f
#define MAX_MASS       75u
#define SPEED          0.001f
#endif
#define NEAR (MERGE_DISTANCE * MERGE_DISTANCE)

enum purpose { first_x, first_y, first_vx, first_vy, first_mass };

static inline uint chance(uint number, enum purpose purpose)
{
    return kma_mix32(SEED + 8u * number + purpose);
}

// Returns a number in [0, 1), the same as on the host.
static inline float drawn(uint number, enum purpose purpose)
{
    return (chance(number, purpose) >> 8) * (1.0f / 16777216.0f);
}

static inline float2 place_at_first(uint number)
{
    return (float2)(2 * drawn(number, first_x) - 1, 2 * drawn(number, first_y) - 1);
}

static inline float2 velocity_at_first(uint number)
{
    return (float2)(drawn(number, first_vx) - 0.5f, drawn(number, first_vy) - 0.5f) * SPEED;
}

static inline float mass_at_first(uint number)
{
    return (float)(MAX_MASS - chance(number, first_mass) % ((MAX_MASS + 1u) / 2u));
}

// Returns a squared distance. It is never 0: a body's attraction to itself is 0, not NaN.
static inline float square(float2 way)
{
    return 1e-20f + way.x * way.x + way.y * way.y;
}

// Returns 1 / (distance^2 + DAMPING) times 1 / distance, which normalizes the vector between the
// bodies: one root instead of a root and two divisions.
static inline float strength(float distance2)
{
    const float damped = distance2 + DAMPING;
    return rsqrt(damped * damped * distance2);
}

// Returns the mean of two values, weighted by mass.
static inline float2 mean(float2 one, float its_mass, float2 other, float others_mass)
{
    return (its_mass * one + others_mass * other) / (its_mass + others_mass);
}

// Moves along a straight line that the walls reflect: rounding there causes only small differences.
static inline void move(float2 *place, float2 *velocity)
{
    *place += TIME_STEP * *velocity;
    if (fabs((*place).x) > 1) {
        (*place).x = copysign(2.0f, (*place).x) - (*place).x;
        (*velocity).x = -(*velocity).x;
    }
    if (fabs((*place).y) > 1) {
        (*place).y = copysign(2.0f, (*place).y) - (*place).y;
        (*velocity).y = -(*velocity).y;
    }
}

#endif
