// A material that breaks, by hand, as a structure of arrays: nodes and springs are numbers. The
// arrays have elements for all nodes and springs of a full mesh: a missing or removed node is a
// no_node, such a spring has stiffness 0. Rules: rules.cl. One work-item per node or spring.
#include "kma/platform/memory.cl"
#include "rules.cl"

#define SPRINGS (3u * CELLS)
#define NONE    (~0u)

kernel void create_nodes(global uchar *kinds, global int2 *places, global int2 *velocities,
                         global kma_atomic_u32 *distances)
{
    const uint node = (uint)get_global_id(0);
    if (node >= CELLS)
        return;
    const enum kind kind = kind_at_first(node);
    kinds[node] = kind;
    places[node] = place_at_first(node);
    velocities[node] = (int2)(0, kind == pulled_node ? -PULL : 0);
    kma_store_u32(&distances[node], kind == free_node ? UNREACHED : 0, KMA_RELAXED);
}

// Creates the springs. `springs` has each node's spring by direction, or NONE; initially all are
// NONE. The springs to the right of all nodes come first, then those of the next direction.
kernel void create_springs(global const uchar *kinds, global uint *begins, global uint *ends,
                           global ushort *rests, global ushort *stiffnesses,
                           global ushort *strengths, global uint *springs)
{
    const uint spring = (uint)get_global_id(0);
    if (spring >= SPRINGS)
        return;
    const uint direction = spring / CELLS, begin = spring % CELLS,
               end = neighbour(begin, direction);
    const bool is_there = end != NOWHERE && kinds[begin] != no_node && kinds[end] != no_node;
    stiffnesses[spring] = is_there ? stiffness_at_first(spring) : 0;
    if (!is_there)
        return;
    begins[spring] = begin;
    ends[spring] = end;
    rests[spring] = length_of(place_at_first(end) - place_at_first(begin));
    strengths[spring] = strength_at_first(spring);
    springs[direction * CELLS + begin] = spring;
    springs[(direction + 3) * CELLS + end] = spring;
}

kernel void node_pull(global const uchar *kinds, global int2 *places, global const int2 *velocities)
{
    const uint node = (uint)get_global_id(0);
    if (node < CELLS && kinds[node] == pulled_node)
        places[node] = add_sat(places[node], velocities[node]);
}

// Sets `torn` to this step if a spring tears.
kernel void spring_pull(global const uint *begins, global const uint *ends,
                        global const ushort *rests, global ushort *stiffnesses,
                        global const ushort *strengths, global short2 *forces,
                        global const int2 *places, global uint *springs, uint step,
                        global kma_atomic_u32 *torn)
{
    const uint spring = (uint)get_global_id(0);
    if (spring >= SPRINGS || stiffnesses[spring] == 0)
        return;
    const uint begin = begins[spring], end = ends[spring];
    short2 force;
    if (holds(sub_sat(places[end], places[begin]), rests[spring], stiffnesses[spring],
              strengths[spring], &force)) {
        forces[spring] = force;
        return;
    }
    const uint direction = spring / CELLS;
    springs[direction * CELLS + begin] = NONE;
    springs[(direction + 3) * CELLS + end] = NONE;
    stiffnesses[spring] = 0;
    kma_store_u32(torn, step, KMA_RELAXED);
}

kernel void node_move(global const uchar *kinds, global int2 *places, global int2 *velocities,
                      global const uint *springs, global const short2 *forces)
{
    const uint node = (uint)get_global_id(0);
    if (node >= CELLS || kinds[node] != free_node)
        return;
    int2 place = places[node], velocity = velocities[node], sum = 0;
    for (uint direction = 0; direction < 6; direction++) {
        const uint spring = springs[direction * CELLS + node];
        if (spring != NONE)
            sum += convert_int2(forces[spring]) * (direction < 3 ? 1 : -1);
    }
    move(&place, &velocity, sum);
    places[node] = place;
    velocities[node] = velocity;
}

// Returns the least distance of a node's neighbours.
static inline uint nearest(uint node, global const uint *springs, global const uint *begins,
                           global const uint *ends, global kma_atomic_u32 *distances)
{
    uint least = UNREACHED;
    for (uint direction = 0; direction < 6; direction++) {
        const uint spring = springs[direction * CELLS + node];
        if (spring != NONE)
            least =
                min(least, kma_load_u32(&distances[direction < 3 ? ends[spring] : begins[spring]],
                                        KMA_RELAXED));
    }
    return least;
}

// A round of the search. `latest` is the last round that changed anything; if it is not the
// previous round, the search has ended.
kernel void node_search(global const uchar *kinds, global const uint *springs,
                        global const uint *begins, global const uint *ends,
                        global kma_atomic_u32 *distances, uint loses, uint round,
                        global kma_atomic_u32 *latest)
{
    const uint node = (uint)get_global_id(0);
    if (node >= CELLS || kma_load_u32(latest, KMA_RELAXED) + 1 < round || kinds[node] != free_node)
        return;
    const uint distance = kma_load_u32(&distances[node], KMA_RELAXED);
    if ((distance != UNREACHED) != loses)
        return;
    const uint after =
        distance_after(loses, distance, nearest(node, springs, begins, ends, distances));
    if (after == distance)
        return;
    kma_store_u32(&distances[node], after, KMA_RELAXED);
    kma_store_u32(latest, round, KMA_RELAXED);
}

// One work-item per spring; there are fewer nodes.
kernel void remove_unreached(global uchar *kinds, global const uint *begins,
                             global ushort *stiffnesses, global kma_atomic_u32 *distances)
{
    const uint i = (uint)get_global_id(0);
    if (i < SPRINGS && stiffnesses[i] != 0 &&
        kma_load_u32(&distances[begins[i]], KMA_RELAXED) == UNREACHED)
        stiffnesses[i] = 0;
    if (i < CELLS && kinds[i] == free_node && kma_load_u32(&distances[i], KMA_RELAXED) == UNREACHED)
        kinds[i] = no_node;
}
