// The rules of bodies that attract each other by a tree (Barnes and Hut, Nature 324, 1986), which
// all versions share. The constants of --paper are those of DynaSOAr's example/barnes-hut-dynamic
// (Springer and Masuhara, ECOOP 2019). That example uses a plane and a quadtree; this one uses
// space and an octree.
//
// Bodies are in the cube from -1 to 1, which is the root of the tree. A cell has eight octants of
// half its width. An octant contains
//
//   nothing, if no body is in it;
//   a body, if one is in it;
//   a cell of the next level, if more bodies are in it;
//   at the last level, DEPTH - 1, a chain of these bodies instead.
//
// The bodies' places determine the cells; the order of work-items does not. Integers decide in
// which octant a body is: its place on a grid of 2^DEPTH points per axis. An octant of level l is
// determined by one bit more than its cell.
//
// In a step each body traverses the tree from the root. A body, or a cell at a distance of at least
// its width / THETA, attracts as its mass at its centre of mass; a nearer cell is entered. The
// attraction is GRAVITY * mass * vector / (distance^2 + DAMPING)^(3/2). Then all bodies move, and
// the walls reflect them. THETA is below 1 / sqrt(3): no body is attracted by a cell that contains
// it.
//
// The program defines BODIES, SEED, DEPTH, THETA, GRAVITY, TIME_STEP, DAMPING; MAX_MASS, where each
// body has at least half of it; SPEED, the width of the range of initial velocities, per axis;
// SPIN, the initial rotation around the z axis; SPREAD, half the width of the cube with all bodies
// at the start.
#ifndef BARNES_HUT_RULES_CL
#define BARNES_HUT_RULES_CL

#include "kma/platform/bits.cl"

#ifndef BODIES // lets this file compile alone
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

// Returns a number in [0, 1), the same as on the host.
static inline float drawn(uint number, enum purpose purpose)
{
    return (chance(number, purpose) >> 8) * (1.0f / 16777216.0f);
}

// Bodies lie in the order of their numbers along a curve through 2^30 boxes (Morton 1966):
// neighbouring work-items traverse the tree similarly. They are denser in the middle, which gives
// the tree many levels.
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

// Returns a body's place on the grid.
static inline uint3 grid_of(float3 place)
{
    return min(convert_uint3((place + 1) * (float)(1u << (DEPTH - 1))), (1u << DEPTH) - 1);
}

// Returns the bits in which two places on the grid differ on any axis. Both places are in one cell
// of level l if all these bits are below bit DEPTH - l.
static inline uint difference(uint3 one, uint3 other)
{
    const uint3 bits = one ^ other;
    return bits.x | bits.y | bits.z;
}

// Returns the octant, of a cell of that level, that contains a place on the grid.
static inline uint octant_of(uint3 grid, uint level)
{
    const uint3 bit = grid >> (DEPTH - 1 - level) & 1;
    return bit.x | bit.y << 1 | bit.z << 2;
}

// Returns the square of the distance from which a cell of that level attracts as a whole.
static inline float reach_of(uint level)
{
    const float away = 2.0f / THETA / (float)(1u << level);
    return away * away;
}

static inline float square(float3 way)
{
    return way.x * way.x + way.y * way.y + way.z * way.z;
}

// Returns the attraction of a mass at `way`, without GRAVITY; 0 for the body itself.
static inline float3 pull(float3 way, float distance2, float mass)
{
    const float inverse = rsqrt(distance2 + DAMPING);
    return way * (mass * inverse * inverse * inverse);
}

// Moves along a straight line that the walls reflect: rounding there causes only small differences.
static inline void move(float3 *place, float3 *velocity)
{
    const float3 ahead = *place + TIME_STEP * *velocity;
    const int3 is_out = isgreater(fabs(ahead), (float3)1);
    *place = clamp(select(ahead, copysign((float3)2, ahead) - ahead, is_out), -1.0f, 1.0f);
    *velocity = select(*velocity, -*velocity, is_out);
}

#endif
