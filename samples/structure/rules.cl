// The rules of a material that breaks, which all versions share. After DynaSOAr's sample
// "structure" (Springer and Masuhara, ECOOP 2019, table 1; example/structure in
// github.com/prg-titech/dynasoar), where springs join nodes that chance picks. Here they are the
// edges of a mesh of triangles: a sheet, in which cracks can be seen.
//
// Nodes are in HEIGHT rows of WIDTH, every other row half a spring's length further right; some are
// missing. Those of the first row are pulled, those of the last one are anchors, which stand still,
// all others are free. Springs join neighbours. In a step
//
// 1. pulled nodes move by PULL, away from the others;
// 2. RELAXATIONS times: a spring's force is its stiffness times the difference of its length and
//    the one at first. If it pulls by more than its strength it tears: it has no force any more,
//    and its ends forget it. Then each free node adds up the forces of its springs, and moves by a
//    step of time, with friction;
// 3. nodes from which no way of springs leads to an anchor or a pulled node are removed, and so are
//    their springs, and those that tore.
//
// Numbers are integers: their sums are the same in any order, and roots and quotients are the same
// on all devices, which those of floats are not (OpenCL lets sqrt and / be inexact). So all
// versions agree in every bit, after any number of steps.
//
// The program defines WIDTH, HEIGHT, SEED; PULL and STRENGTH, lengths at a stiffness of 1; MASS, of
// a node; FRICTION of 1024; SPREAD of stiffness, to both sides, of 256; MISSING nodes and WEAK
// springs of 1024.
#ifndef STRUCTURE_RULES_CL
#define STRUCTURE_RULES_CL

#include "kma/platform/bits.cl"

#ifndef WIDTH // so that this file compiles by itself
#define WIDTH    128u
#define HEIGHT   64u
#define SEED     42u
#define PULL     640
#define STRENGTH 2560u
#define MASS     8
#define FRICTION 2
#define SPREAD   64u
#define MISSING  60u
#define WEAK     100u
#endif
#define CELLS     ((uint)WIDTH * (uint)HEIGHT)
#define LENGTH    16384 // of a spring in the mesh; the unit of places
#define ROW       14189 // from a row to the next: LENGTH * sqrt(3) / 2
// in a coordinate, a spring's ends are not further apart, so that squares have 32 bits
#define FAR       32767
#define FRACTION  256   // velocities are in so many parts of the unit, by relaxation
#define FASTEST   (FRACTION * LENGTH / 4)
#define NOWHERE   (~0u)
#define UNREACHED (~0u)

enum kind { no_node, free_node, anchor_node, pulled_node };
enum purpose { whether_missing, how_stiff, how_strong, whether_weak };

static inline uint chance(uint number, enum purpose purpose)
{
    return kma_mix32(kma_mix32(SEED * 4u + purpose) ^ number);
}

// Nodes are numbered row by row, with those that are missing.
static inline enum kind kind_at_first(uint node)
{
    if (node < WIDTH)
        return pulled_node;
    if (node >= CELLS - WIDTH)
        return anchor_node;
    return chance(node, whether_missing) % 1024u < MISSING ? no_node : free_node;
}

static inline int2 place_at_first(uint node)
{
    const uint x = node % WIDTH, y = node / WIDTH;
    return (int2)((int)x * LENGTH + (int)(y & 1u) * (LENGTH / 2), (int)y * ROW);
}

// Springs begin at a node in three directions: 0 is right, 1 down to the right, 2 down to the left;
// in those opposite, 3 to 5, they end there.
static inline uint neighbour(uint node, uint direction)
{
    const uint y = node / WIDTH, right = direction == 0 ? 1 : (y & 1u) - (direction == 2 ? 1u : 0u),
               down = direction == 0 ? 0 : 1;
    const uint x = node % WIDTH + right; // left of 0 is 2^32 - 1
    return x < WIDTH && y + down < HEIGHT ? (y + down) * WIDTH + x : NOWHERE;
}

// A spring's number is direction * CELLS + the node where it begins.
static inline ushort stiffness_at_first(uint spring)
{
    return 256u - SPREAD + chance(spring, how_stiff) % (2 * SPREAD + 1);
}

// Half of STRENGTH to all of it; weak ones have a quarter of that.
static inline ushort strength_at_first(uint spring)
{
    const uint strength = STRENGTH - chance(spring, how_strong) % (STRENGTH / 2 + 1);
    return chance(spring, whether_weak) % 1024u < WEAK ? strength / 4 : strength;
}

// Rounded down. The float is less than 1 off, so the integer is by 1 at most.
static inline int length_of(int2 way)
{
    const uint square = (uint)(way.x * way.x + way.y * way.y), about = (uint)sqrt((float)square);
    const uint root = about - (about * about > square ? 1 : 0);
    return (int)(root + ((root + 1) * (root + 1) <= square ? 1 : 0));
}

// Whether a spring holds, with this way from its begin to its end; then `force` is what pulls at
// the begin, and at the end the other way.
static inline bool holds(int2 way, int rest, int stiffness, int strength, short2 *force)
{
    if (any(abs(way) > (uint2)(FAR)))
        return false;
    const int length = length_of(way), pull = (length - rest) * stiffness / 256;
    if (pull > strength)
        return false;
    *force = convert_short2(pull * way / max(length, 1));
    return true;
}

// A free node's relaxation. Places end where their numbers do, if somebody pulls that long.
static inline void move(int2 *place, int2 *velocity, int2 force)
{
    const int2 fast = clamp(*velocity + force * FRACTION / MASS, -FASTEST, FASTEST);
    *velocity = fast - fast * FRICTION / 1024;
    *place = add_sat(*place, (*velocity + FRACTION / 2) >> 8);
}

// The search of part 3: breadth first, and by what the last search knew (after Even and Shiloach
// 1981). A node's distance from those that are held shows that it is held, too, as long as a spring
// leads to a smaller distance. So first, in rounds, nodes that have none such left lose theirs;
// then, in rounds, those without get one from their neighbours. When a round changes nothing, nodes
// without are not held.
static inline uint distance_after(bool loses, uint distance, uint nearest)
{
    if (loses)
        return nearest < distance ? distance : UNREACHED;
    return nearest == UNREACHED ? UNREACHED : nearest + 1;
}

#endif
