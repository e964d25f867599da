// The rules of a material that breaks, which all versions share. After DynaSOAr's sample
// "structure" (Springer and Masuhara, ECOOP 2019, table 1; example/structure in
// github.com/prg-titech/dynasoar). There springs join random nodes. Here they are the edges of a
// mesh of triangles: a sheet, in which cracks are visible.
//
// Nodes are in HEIGHT rows of WIDTH; odd rows are shifted by half a spring's length to the right,
// and some nodes are missing. Nodes of the first row are pulled, nodes of the last row are fixed
// anchors, all others are free. Springs join neighbours. In a step
//
// 1. pulled nodes move by PULL, away from the others;
// 2. RELAXATIONS times: a spring's force is its stiffness times the change of its length. If it
//    pulls by more than its strength it tears: it has no force any more, and its ends drop their
//    references. Then each free node adds up the forces of its springs, and moves by one time step,
//    with friction;
// 3. nodes that no path of springs connects to an anchor or a pulled node are removed, with their
//    springs, and with the torn springs.
//
// All numbers are integers. Their sums do not depend on the order, and roots and quotients are the
// same on all devices, unlike those of floats (OpenCL lets sqrt and / be inexact). All versions
// agree in every bit, after any number of steps.
//
// The program defines WIDTH, HEIGHT, SEED; PULL and STRENGTH, lengths at a stiffness of 1; MASS of
// a node; FRICTION, of 1024; SPREAD of the stiffness, to both sides, of 256; MISSING nodes and WEAK
// springs, of 1024.
#ifndef STRUCTURE_RULES_CL
#define STRUCTURE_RULES_CL

#include "kma/platform/bits.cl"

#ifndef WIDTH // lets this file compile alone
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
#define LENGTH    16384 // of a spring in the mesh, in the unit of places
#define ROW       14189 // distance of two rows: LENGTH * sqrt(3) / 2
// largest distance of a spring's ends, per axis: squared lengths fit in 32 bits
#define FAR       32767
#define FRACTION  256   // velocities are in 1/256 of the unit per relaxation
#define FASTEST   (FRACTION * LENGTH / 4)
#define NOWHERE   (~0u)
#define UNREACHED (~0u)

enum kind { no_node, free_node, anchor_node, pulled_node };
enum purpose { whether_missing, how_stiff, how_strong, whether_weak };

static inline uint chance(uint number, enum purpose purpose)
{
    return kma_mix32(kma_mix32(SEED * 4u + purpose) ^ number);
}

// Nodes are numbered row by row, including missing ones.
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

// Returns the neighbour in a direction, or NOWHERE. Springs begin at a node in three directions: 0
// is right, 1 down right, 2 down left. In the opposite directions, 3 to 5, springs end at the node.
static inline uint neighbour(uint node, uint direction)
{
    const uint y = node / WIDTH, right = direction == 0 ? 1 : (y & 1u) - (direction == 2 ? 1u : 0u),
               down = direction == 0 ? 0 : 1;
    const uint x = node % WIDTH + right; // left of 0 is 2^32 - 1
    return x < WIDTH && y + down < HEIGHT ? (y + down) * WIDTH + x : NOWHERE;
}

// A spring's number is direction * CELLS + the node at which it begins.
static inline ushort stiffness_at_first(uint spring)
{
    return 256u - SPREAD + chance(spring, how_stiff) % (2 * SPREAD + 1);
}

// Between half of STRENGTH and all of it; weak springs have a quarter of that.
static inline ushort strength_at_first(uint spring)
{
    const uint strength = STRENGTH - chance(spring, how_strong) % (STRENGTH / 2 + 1);
    return chance(spring, whether_weak) % 1024u < WEAK ? strength / 4 : strength;
}

// Returns the length, rounded down. The float root is off by less than 1: the integer by at most 1.
static inline int length_of(int2 way)
{
    const uint square = (uint)(way.x * way.x + way.y * way.y), about = (uint)sqrt((float)square);
    const uint root = about - (about * about > square ? 1 : 0);
    return (int)(root + ((root + 1) * (root + 1) <= square ? 1 : 0));
}

// True if a spring holds; `way` leads from its beginning to its end. Then `force` is the force at
// its beginning; the force at its end is opposite.
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

// Moves a free node by one relaxation. Places saturate at the limits of int.
static inline void move(int2 *place, int2 *velocity, int2 force)
{
    const int2 fast = clamp(*velocity + force * FRACTION / MASS, -FASTEST, FASTEST);
    *velocity = fast - fast * FRICTION / 1024;
    *place = add_sat(*place, (*velocity + FRACTION / 2) >> 8);
}

// One node's update in the search of part 3. The search is breadth-first and starts from the last
// search's distances (after Even and Shiloach 1981). A node is held if a spring leads to a node
// with a smaller distance from the anchors and pulled nodes. 1. In rounds, nodes without such a
// neighbour lose their distance. 2. In rounds, nodes without a distance get one from their
// neighbours. When a round changes nothing, nodes without a distance are not held.
static inline uint distance_after(bool loses, uint distance, uint nearest)
{
    if (loses)
        return nearest < distance ? distance : UNREACHED;
    return nearest == UNREACHED ? UNREACHED : nearest + 1;
}

#endif
