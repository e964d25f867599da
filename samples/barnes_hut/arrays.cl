// Barnes and Hut's tree by hand, after Burtscher and Pingali (GPU Computing Gems, Emerald edition,
// 2011, chapter 6), but without their locks: arrays have space for CELLS cells, a counter allocates
// them, and each step builds the tree anew. Rules: rules.cl. Why no work-item waits: barnes_hut.cl.
//
// A node is a number: 0 is none; bodies start at 1, cells at ROOT. `nodes` has NODES words for each
// of the fields below. `cells` has eight octants per cell, then two words per cell, and two global
// words.
#include "kma/platform/memory.cl"
#include "rules.cl"

#ifndef CELLS // lets this file compile alone
#define CELLS 4064u
#endif
#define ROOT        (BODIES + 1u)
#define NODES       (ROOT + CELLS)
#define NEXT(n)     nodes[n]
#define PARENT(n)   nodes[NODES + (n)]
// of a cell its first node, of a body the next one of its chain
#define INNER(n)    nodes[2 * NODES + (n)]
#define OCTANT(n)   nodes[3 * NODES + (n)]
#define CHILD(n, i) (&cells[8 * ((n)-ROOT) + (i)])
#define COUNT(n)    (&cells[8 * CELLS + (n)-ROOT]) // of bodies; 0: the cell is not in the tree
#define REPORTED(n) (&cells[9 * CELLS + (n)-ROOT])
#define USED        (&cells[10 * CELLS])
#define REFUSED     (&cells[10 * CELLS + 1])

static inline void clear(global kma_atomic_u32 *cells, uint cell, uint bodies)
{
    for (uint i = 0; i < 8; i++)
        kma_store_u32(CHILD(cell, i), 0, KMA_RELAXED);
    kma_store_u32(COUNT(cell), bodies, KMA_RELAXED);
    kma_store_u32(REPORTED(cell), 0, KMA_RELAXED);
}

// Reduces the tree to the root. One work-item.
static inline void fell(global uint *nodes, global kma_atomic_u32 *cells)
{
    clear(cells, ROOT, BODIES);
    PARENT(ROOT) = 0;
    kma_store_u32(USED, 1, KMA_RELAXED);
}

kernel void arrays_init(global float4 *centre, global float4 *velocity, global float *reach,
                        global uint *nodes, global kma_atomic_u32 *cells)
{
    const uint number = (uint)get_global_id(0), self = number + 1;
    if (number >= BODIES)
        return;
    const float3 place = place_at_first(number);
    centre[self] = (float4)(place, mass_at_first(number));
    velocity[number] = (float4)(velocity_at_first(number, place), 0);
    reach[self] = 0;
    if (number != 0)
        return;
    fell(nodes, cells);
    kma_store_u32(REFUSED, 0, KMA_RELAXED);
}

kernel void arrays_attract(global const float4 *centre, global float4 *velocity,
                           global const float *reach, global const uint *nodes)
{
    const uint number = (uint)get_global_id(0);
    if (number >= BODIES)
        return;
    const float3 place = centre[number + 1].xyz;
    float3 sum = 0;
    // ends: the traversal only goes forward
    for (uint node = INNER(ROOT); node != 0;) {
        const float4 other = centre[node];
        const float3 way = other.xyz - place;
        const float distance2 = square(way);
        const bool is_near = distance2 < reach[node];
        sum += is_near ? 0 : pull(way, distance2, other.w);
        node = is_near ? INNER(node) : NEXT(node);
    }
    velocity[number].xyz += TIME_STEP * GRAVITY * sum;
}

kernel void arrays_move(global float4 *centre, global float4 *velocity, global uint *nodes,
                        global kma_atomic_u32 *cells)
{
    const uint number = (uint)get_global_id(0);
    if (number >= BODIES)
        return;
    float3 place = centre[number + 1].xyz, its_velocity = velocity[number].xyz;
    move(&place, &its_velocity);
    centre[number + 1].xyz = place;
    velocity[number].xyz = its_velocity;
    if (number == 0)
        fell(nodes, cells);
}

// Returns a cell for that octant of `parent`, with `body` in it, not yet in the tree; 0 if all
// cells are used. Reuses `spare` if it is not 0.
static inline uint cell_with(global const float4 *centre, global float *reach, global uint *nodes,
                             global kma_atomic_u32 *cells, uint spare, uint parent, uint level,
                             uint octant, uint body)
{
    const uint cell = spare != 0 ? spare : ROOT + kma_fetch_add_u32(USED, 1, KMA_RELAXED);
    if (cell >= NODES)
        return 0;
    clear(cells, cell, 1);
    kma_store_u32(CHILD(cell, octant_of(grid_of(centre[body].xyz), level)), body, KMA_RELAXED);
    PARENT(cell) = parent;
    OCTANT(cell) = octant;
    reach[cell] = reach_of(level);
    return cell;
}

kernel void arrays_insert(global const float4 *centre, global float *reach, global uint *nodes,
                          global kma_atomic_u32 *cells)
{
    const uint self = (uint)get_global_id(0) + 1;
    if (self > BODIES)
        return;
    const uint3 grid = grid_of(centre[self].xyz);
    uint cell = ROOT, spare = 0, level = 0;
    INNER(self) = 0;
    bool is_refused = false;
    // ends: each iteration goes a level down, or another lane has changed the octant
    for (bool is_in = false; !is_in && !is_refused;) {
        const uint octant = octant_of(grid, level);
        global kma_atomic_u32 *const at = CHILD(cell, octant);
        const uint child = kma_load_u32(at, KMA_ACQUIRE);
        if (level == DEPTH - 1) {
            INNER(self) = kma_exchange_u32(at, self, KMA_RELAXED);
            is_in = true;
        } else if (child == 0) {
            is_in = kma_cas_u32(at, 0, self, KMA_RELAXED) == 0;
        } else if (child >= ROOT) {
            cell = child;
            level++;
            kma_fetch_add_u32(COUNT(cell), 1, KMA_RELAXED);
        } else if ((spare = cell_with(centre, reach, nodes, cells, spare, cell, level + 1, octant,
                                      child)) == 0) {
            is_refused = true;
            PARENT(self) = ROOT;
            kma_fetch_add_u32(REFUSED, 1, KMA_RELAXED);
            for (; cell != ROOT; cell = PARENT(cell)) // a level up each time
                kma_fetch_add_u32(COUNT(cell), ~0u, KMA_RELAXED);
        } else if (kma_cas_u32(at, child, spare, KMA_RELEASE) == child) {
            spare = 0; // the next iteration enters the new cell
        }
    }
    if (spare != 0)
        kma_store_u32(COUNT(spare), 0, KMA_RELAXED);
}

// Returns the node after a cell and its subtree; 0 if there is none.
static inline uint behind(global const uint *nodes, global kma_atomic_u32 *cells, uint cell)
{
    for (; cell != ROOT; cell = PARENT(cell)) // a level up each time
        for (uint i = OCTANT(cell) + 1; i < 8; i++) {
            const uint child = kma_load_u32(CHILD(PARENT(cell), i), KMA_RELAXED);
            if (child != 0)
                return child;
        }
    return 0;
}

kernel void arrays_thread(global uint *nodes, global kma_atomic_u32 *cells)
{
    const uint used = min(kma_load_u32(USED, KMA_RELAXED), CELLS);
    for (uint cell = ROOT + (uint)get_global_id(0); cell < ROOT + used;
         cell += (uint)get_global_size(0)) {
        if (kma_load_u32(COUNT(cell), KMA_RELAXED) == 0)
            continue;
        uint next = behind(nodes, cells, cell);
        for (uint i = 8; i-- > 0;) { // from the last to the first
            const uint child = kma_load_u32(CHILD(cell, i), KMA_RELAXED);
            // to the end of the chain
            for (uint body = child < ROOT ? child : 0; body != 0; body = INNER(body)) {
                PARENT(body) = cell;
                NEXT(body) = INNER(body) != 0 ? INNER(body) : next;
            }
            if (child >= ROOT)
                NEXT(child) = next;
            next = child != 0 ? child : next;
        }
        INNER(cell) = next;
    }
}

kernel void arrays_sum_up(global float4 *centre, global const uint *nodes,
                          global kma_atomic_u32 *cells)
{
    const uint self = (uint)get_global_id(0) + 1;
    if (self > BODIES)
        return;
    uint news = 1; // number of bodies to report
    for (uint cell = PARENT(self); cell != 0; cell = PARENT(cell)) { // a level up each time
        const uint bodies = kma_load_u32(COUNT(cell), KMA_RELAXED);
        if (kma_fetch_add_u32(REPORTED(cell), news, KMA_ACQ_REL) + news != bodies)
            return;
        float4 sum = 0;
        for (uint i = 0; i < 8; i++)
            // to the end of the chain
            for (uint node = kma_load_u32(CHILD(cell, i), KMA_RELAXED); node != 0;
                 node = node < ROOT ? INNER(node) : 0)
                sum += (float4)(centre[node].xyz * centre[node].w, centre[node].w);
        centre[cell] = (float4)(sum.xyz / sum.w, sum.w);
        news = bodies;
    }
}
