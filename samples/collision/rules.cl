// The rules of bodies that attract each other and merge, which all versions share. After DynaSOAr's
// sample (Springer and Masuhara, ECOOP 2019, appendix A; constants of its
// example/collision/configuration.h), where it is a race who merges with whom. Here places, masses
// and numbers decide, not the order in which work-items come, so that all versions agree on every
// merger after any number of steps.
//
// Bodies are in the square from -1 to 1. In a step
//
// 1. each looks at all others. Each of them accelerates it by GRAVITY * mass / (distance^2 +
//    DAMPING). Of those nearer than MERGE_DISTANCE it notes the heaviest one that is heavier than
//    itself, and the heaviest one that is lighter; of equal masses the one with the smaller number
//    counts as the heavier;
// 2. a body near which nobody is heavier takes in the lighter one that it noted, if that one noted
//    it, too: a perfectly inelastic collision, in which masses and impulses add up; its place is
//    the centre of both masses then. So nobody takes part in two mergers, and in each cluster there
//    is one at least: of the heaviest with the heaviest near it;
// 3. those that remain move, and the walls throw them back.
//
// Masses are whole numbers, no more than 2^24 in all, so that sums are exact in single precision.
//
// The program defines BODIES, SEED, GRAVITY, TIME_STEP, DAMPING, MERGE_DISTANCE; MAX_MASS of a body
// at first, the least is half of it; SPEED, the width of the range of first velocities, each way.
#ifndef COLLISION_RULES_CL
#define COLLISION_RULES_CL

#include "kma/platform/bits.cl"

#ifndef BODIES // so that this file compiles by itself
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

// Numbers in [0, 1), the same on the host.
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

// The square of a distance. Never 0, so that a body's attraction to itself is 0, and not NaN.
static inline float square(float2 way)
{
    return 1e-20f + way.x * way.x + way.y * way.y;
}

// 1 / (distance^2 + DAMPING), and 1 / distance to make a direction of the way there: by one root
// instead of a root and two divisions.
static inline float strength(float distance2)
{
    const float damped = distance2 + DAMPING;
    return rsqrt(damped * damped * distance2);
}

// Of two values, each with its mass.
static inline float2 mean(float2 one, float its_mass, float2 other, float others_mass)
{
    return (its_mass * one + others_mass * other) / (its_mass + others_mass);
}

// A step on a straight way, which the walls mirror: so rounding there makes small differences only.
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
