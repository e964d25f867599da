// The rules of bodies that attract each other by a tree (Barnes and Hut, Nature 324, 1986), which
// all versions share. Constants of --paper are those of DynaSOAr's example/barnes-hut-dynamic
// (Springer and Masuhara, ECOOP 2019), which has a plane and a quadtree; here is space, and an
// octree.
//
// Bodies are in the cube from -1 to 1. The cube is the root of the tree. A cell has eight octants,
// half as wide, each of which has
//
//     nothing, if no body is there; the body, if one is; a cell of the next level, if there are
//     more; at the last level, DEPTH - 1, a chain of these bodies instead.
//
// So where the bodies are says which cells there are, and the order in which work-items come does
// not. Which octant a body is in is decided by whole numbers: its place on a grid of 2^DEPTH points
// each way, of which an octant of level l has one bit more than its cell.
//
// A step: each body goes through the tree from the root on. A body, or a cell at least its width /
// THETA away, attracts as its mass in its centre of mass; of a nearer cell the octants are asked.
// Attraction is GRAVITY * mass * way / (distance^2 + DAMPING)^(3/2). Then all bodies move, and the
// walls throw them back. No body is attracted by a cell that it is in itself: THETA is below 1 /
// sqrt(3).
//
// The program defines BODIES, SEED, DEPTH, THETA, GRAVITY, TIME_STEP, DAMPING; MAX_MASS, of which
// each has at least half; SPEED, the width of the range of first velocities, each way; SPIN, of all
// around the axis z at first; SPREAD, half the width of the cube in which they are at first.
#ifndef BARNES_HUT_RULES_CL
#define BARNES_HUT_RULES_CL

#include "kma/platform/bits.cl"

#ifndef BODIES // so that this file compiles by itself
#define BODIES    4000u
#define SEED      42u
#define DEPTH     20u
#define THETA     0.5f
#define GRAVITY   1e-7f
#define TIME_STEP 0.02f
#define DAMPING   1e-3f
#define MAX_MASS  1000.0f
#define SPEED     0.1f
#define SPIN      0.4f
#define SPREAD    1.0f
#endif

enum purpose { first_key, first_x, first_y, first_z, first_vx, first_vy, first_vz, first_mass };

static inline uint chance(uint number, enum purpose purpose)
{
    return kma_mix32(SEED + 8u * number + purpose);
}

// Numbers in [0, 1), the same on the host.
static inline float drawn(uint number, enum purpose purpose)
{
    return (chance(number, purpose) >> 8) * (1.0f / 16777216.0f);
}

// In the order of their numbers they lie along a curve through 2^30 boxes (Morton 1966), so that
// neighbouring work-items go similar ways through the tree; and denser in the middle, so that it
// has many levels.
static inline float3 place_at_first(uint number)
{
    const uint key = (uint)((((ulong)number << 30) + (chance(number, first_key) >> 2)) / BODIES);
    uint3 box = 0;
    for (uint bit = 0; bit < 10; bit++)
        box |= ((uint3)(key, key >> 1, key >> 2) >> (3 * bit) & 1) << bit;
    const float3 within =
        (float3)(drawn(number, first_x), drawn(number, first_y), drawn(number, first_z));
    const float3 even = (convert_float3(box) + within) * (2.0f / 1024) - 1;
    return SPREAD * even * fabs(even);
}

static inline float3 velocity_at_first(uint number, float3 place)
{
    const float3 any_way =
        (float3)(drawn(number, first_vx), drawn(number, first_vy), drawn(number, first_vz)) - 0.5f;
    return SPEED * any_way + SPIN * (float3)(-place.y, place.x, 0);
}

static inline float mass_at_first(uint number)
{
    return MAX_MASS * (0.5f + 0.5f * drawn(number, first_mass));
}

// Where a body is on the grid.
static inline uint3 grid_of(float3 place)
{
    return min(convert_uint3((place + 1) * (float)(1u << (DEPTH - 1))), (1u << DEPTH) - 1);
}

// The bits in which two places on the grid differ, in any direction: both are in one cell of level
// l if those are below bit DEPTH - l.
static inline uint difference(uint3 one, uint3 other)
{
    const uint3 bits = one ^ other;
    return bits.x | bits.y | bits.z;
}

// Of a cell of that level that a place on the grid is in.
static inline uint octant_of(uint3 grid, uint level)
{
    const uint3 bit = grid >> (DEPTH - 1 - level) & 1;
    return bit.x | bit.y << 1 | bit.z << 2;
}

// The square of the distance from which on a cell of that level attracts as a whole.
static inline float reach_of(uint level)
{
    const float away = 2.0f / THETA / (float)(1u << level);
    return away * away;
}

static inline float square(float3 way)
{
    return way.x * way.x + way.y * way.y + way.z * way.z;
}

// Towards a mass there, without GRAVITY. 0 for itself.
static inline float3 pull(float3 way, float distance2, float mass)
{
    const float inverse = rsqrt(distance2 + DAMPING);
    return way * (mass * inverse * inverse * inverse);
}

// A step on a straight way, which the walls mirror: so rounding there makes small differences only.
static inline void move(float3 *place, float3 *velocity)
{
    const float3 ahead = *place + TIME_STEP * *velocity;
    const int3 is_out = isgreater(fabs(ahead), (float3)1);
    *place = clamp(select(ahead, copysign((float3)2, ahead) - ahead, is_out), -1.0f, 1.0f);
    *velocity = select(*velocity, -*velocity, is_out);
}

#endif
