// Barnes and Hut's tree as objects that change from step to step. The rules: rules.cl. A Node is a
// Body or a Cell; what both have: the centre of mass, and in w the mass; `reach` of rules.cl, 0 of
// a body; the Cell it is in; and `next`, the node behind it and all that is in it, on the way
// through the tree. So this way needs no stack (the one of Burtscher and Pingali 2011 does):
// `first` of a cell to go in, `next` to pass.
//
// Between the do-alls, whose order is in objects.cpp:
//
// 1. `bodies` of a cell are those in it or to be inserted below it: each body counts once in its
//    cell, or its `entry`, and in all above.
// 2. A body whose `entry` is 0 is in the one octant that rules.cl says. One that has an entry is in
//    none, and the entry contains its place.
// 3. `also` of a body is the next one of its chain, 0 of the last, and of those that are in no
//    chain.
// 4. Cells never move: level, octant and parent are constant.
//
// Nobody waits for another, and each do-all has its own reason why its work-items do not disturb
// each other:
//
// body_attract     reads the tree, and writes velocities only, each its own.
// body_move        empties its own octant, which nobody reads, and subtracts itself from cells by atomics. At the last level all bodies of a chain
//                  leave and are inserted again, so that nobody takes single ones out of a chain.
// body_insert      An octant only goes forward: from nothing to a body, and from a body to a cell, by compare-and-swap. Who fails has met another's
//                  success, two at most for an octant: so 3 * DEPTH rounds are the most. A new cell
//                  is filled before a release publishes it, with the body that was there already in
//                  it; who reads the octant with acquire sees it whole. That body itself is not
//                  touched, so its own work-item may still be at it. Chains grow by an exchange,
//                  which cannot fail. No cell that was published is deleted here, and no body, so
//                  an octant never comes to be what it was before.
// cell_prune       A cell with less than two bodies is dead, and so are those in it. The uppermost dead one of each branch puts the one body, if there
//                  is one, in its own place: it alone writes this octant, and nobody reads it,
//                  since all look only at octants of dead cells.
// cell_thread      Dead cells, to which nothing leads any more, end. Each other one writes to its own children and itself, and reads octants and
//                  what is constant of those above, which nobody writes.
// body_sum_up      Each body reports to its cell. Whose report completes it sums it up and reports it to the next, the others end: so only one reads
//                  what is in a cell, and has acquired what all others released by their reports.
//
// Without memory for a cell, a body takes back what it has counted, and waits outside of the tree,
// with the root as its entry, for the next step. Until then it is attracted, but does not attract.
#include "rules.cl"

#define LAST_LEVEL (DEPTH - 1)

static inline Node child_of(global kma_world *w, Cell cell, uint octant)
{
    return kma_load_u32(Cell_children_at(w, cell, octant), KMA_RELAXED);
}

static inline void count(global kma_world *w, Cell cell, int bodies)
{
    kma_fetch_add_u32(Cell_bodies_at(w, cell), (uint)bodies, KMA_RELAXED);
}

static inline bool is_dead(global kma_world *w, Cell cell)
{
    return Cell_level(w, cell) != 0 && kma_load_u32(Cell_bodies_at(w, cell), KMA_RELAXED) < 2;
}

// A cell without bodies.
static inline void cell_begin(global kma_world *w, Cell self, Cell parent, uint level, uint octant)
{
    Cell_parent(w, self) = parent;
    Cell_level(w, self) = (uchar)level;
    Cell_octant(w, self) = (uchar)octant;
    Cell_reach(w, self) = reach_of(level);
    Cell_first(w, self) = 0;
    for (uint i = 0; i < 8; i++)
        kma_store_u32(Cell_children_at(w, self, i), 0, KMA_RELAXED);
    kma_store_u32(Cell_bodies_at(w, self), 0, KMA_RELAXED);
    kma_store_u32(Cell_reported_at(w, self), 0, KMA_RELAXED);
}

static inline void root_init(global kma_world *w, Cell self, uint i)
{
    cell_begin(w, self, 0, 0, 0);
}

static inline void body_init(global kma_world *w, Body self, uint number, Cell root)
{
    const float3 place = place_at_first(number);
    Body_number(w, self) = number;
    Body_centre(w, self) = (float4)(place, mass_at_first(number));
    Body_velocity(w, self) = velocity_at_first(number, place);
    Body_reach(w, self) = 0;
    Body_entry(w, self) = root;
    count(w, root, 1);
}

static inline void body_attract(global kma_world *w, Body self, Cell root)
{
    const float3 place = Body_centre(w, self).xyz;
    float3 sum = 0;
    // forward on the way through the tree, which has an end
    for (Node node = Cell_first(w, root); node != 0;) {
        const float4 centre = Node_centre(w, node);
        const float3 way = centre.xyz - place;
        const float distance2 = square(way);
        if (distance2 < Node_reach(w, node)) {
            node = Cell_first(w, node);
        } else {
            sum += pull(way, distance2, centre.w);
            node = Node_next(w, node);
        }
    }
    Body_velocity(w, self) += TIME_STEP * GRAVITY * sum;
}

// To the place after a step; returns where on the grid the body was before.
static inline uint3 advance(global kma_world *w, Body self)
{
    float3 place = Body_centre(w, self).xyz, velocity = Body_velocity(w, self);
    const uint3 before = grid_of(place);
    move(&place, &velocity);
    Body_centre(w, self).xyz = place;
    Body_velocity(w, self) = velocity;
    return before;
}

// Who leaves its octant leaves the tree, up to the smallest cell that has the new place in it, too.
static inline void body_move(global kma_world *w, Body self)
{
    const uint3 before = advance(w, self);
    if (Body_entry(w, self) != 0)
        return;
    const uint changed = difference(before, grid_of(Body_centre(w, self).xyz));
    Cell cell = Body_parent(w, self);
    const uint level = Cell_level(w, cell);
    if (changed >> (LAST_LEVEL - level) == 0 && level != LAST_LEVEL)
        return;
    kma_store_u32(Cell_children_at(w, cell, octant_of(before, level)), 0, KMA_RELAXED);
    // up to the root at most, which has all places
    for (; changed >> (DEPTH - Cell_level(w, cell)) != 0; cell = Cell_parent(w, cell))
        count(w, cell, -1);
    Body_entry(w, self) = cell;
}

// A cell in that octant of `parent`, with `body` in it, not yet in the tree: `spare`, or a new one;
// 0 without memory.
static inline Cell cell_with(global kma_world *w, Cell spare, Cell parent, uint octant, Body body)
{
    const Cell cell = spare != 0 ? spare : Cell_new(w);
    if (cell == 0)
        return 0;
    const uint level = Cell_level(w, parent) + 1;
    cell_begin(w, cell, parent, level, octant);
    kma_store_u32(Cell_children_at(w, cell, octant_of(grid_of(Body_centre(w, body).xyz), level)),
                  body, KMA_RELAXED);
    count(w, cell, 1);
    return cell;
}

static inline void body_insert(global kma_world *w, Body self, Cell root)
{
    Cell cell = Body_entry(w, self), spare = 0;
    if (cell == 0)
        return;
    const uint3 grid = grid_of(Body_centre(w, self).xyz);
    Body_also(w, self) = 0;
    Cell outside = 0; // without memory: the root
    // each round goes a level down, or another's success took the octant forward
    for (bool is_in = false; !is_in && outside == 0;) {
        const uint octant = octant_of(grid, Cell_level(w, cell));
        global kma_atomic_u32 *const at = Cell_children_at(w, cell, octant);
        const Node child = kma_load_u32(at, KMA_ACQUIRE);
        if (Cell_level(w, cell) == LAST_LEVEL) {
            Body_also(w, self) = kma_exchange_u32(at, self, KMA_RELAXED);
            is_in = true;
        } else if (child == 0) {
            is_in = kma_cas_u32(at, 0, self, KMA_RELAXED) == 0;
        } else if (Cell_is(w, child)) {
            cell = child;
            count(w, cell, 1);
        } else if ((spare = cell_with(w, spare, cell, octant, child)) == 0) {
            outside = root;
        } else if (kma_cas_u32(at, child, spare, KMA_RELEASE) == child) {
            spare = 0; // the next round goes there
        }
    }
    for (; outside != 0 && cell != root; cell = Cell_parent(w, cell)) // up to the root
        count(w, cell, -1);
    Body_entry(w, self) = outside;
    Cell_delete(w, spare);
}

static inline void cell_prune(global kma_world *w, Cell self)
{
    const Cell parent = Cell_parent(w, self);
    if (!is_dead(w, self) || is_dead(w, parent))
        return;
    Node only = self;
    while (Cell_is(w, only)) { // a level down each time, in dead cells, along the one with a body
        Node below = 0;
        for (uint i = 0; i < 8; i++) {
            const Node child = child_of(w, only, i);
            if (child != 0 &&
                (!Cell_is(w, child) || kma_load_u32(Cell_bodies_at(w, child), KMA_RELAXED) != 0))
                below = child;
        }
        only = below;
    }
    kma_store_u32(Cell_children_at(w, parent, Cell_octant(w, self)), only, KMA_RELAXED);
}

// What comes behind a cell and all that is in it; 0: nothing.
static inline Node behind(global kma_world *w, Cell cell)
{
    for (; Cell_level(w, cell) != 0; cell = Cell_parent(w, cell)) { // a level up each time
        const Cell parent = Cell_parent(w, cell);
        for (uint i = Cell_octant(w, cell) + 1u; i < 8; i++)
            if (child_of(w, parent, i) != 0)
                return child_of(w, parent, i);
    }
    return 0;
}

static inline void cell_thread(global kma_world *w, Cell self)
{
    if (is_dead(w, self)) {
        Cell_delete(w, self);
        return;
    }
    Node next = behind(w, self);
    for (uint i = 8; i-- > 0;) { // from the last to the first
        const Node child = child_of(w, self, i);
        if (Cell_is(w, child))
            Cell_next(w, child) = next;
        else
            // to the end of the chain
            for (Body body = child; body != 0; body = Body_also(w, body)) {
                Body_parent(w, body) = self;
                Body_next(w, body) = Body_also(w, body) != 0 ? Body_also(w, body) : next;
            }
        next = child != 0 ? child : next;
    }
    Cell_first(w, self) = next;
}

// Of what is in a cell, which is complete: the centre of mass, and the mass.
static inline float4 cell_sum(global kma_world *w, Cell cell)
{
    const bool has_chains = Cell_level(w, cell) == LAST_LEVEL;
    float4 sum = 0;
    for (uint i = 0; i < 8; i++)
        // to the end of the chain
        for (Node node = child_of(w, cell, i); node != 0;
             node = has_chains ? Body_also(w, node) : 0) {
            const float4 centre = Node_centre(w, node);
            sum += (float4)(centre.xyz * centre.w, centre.w);
        }
    return (float4)(sum.xyz / sum.w, sum.w);
}

static inline void body_sum_up(global kma_world *w, Body self)
{
    uint news = 1; // bodies to report
    const Cell entry = Body_entry(w, self);
    // a level up each time
    for (Cell cell = entry != 0 ? entry : Body_parent(w, self); cell != 0;
         cell = Cell_parent(w, cell)) {
        const uint bodies = kma_load_u32(Cell_bodies_at(w, cell), KMA_RELAXED);
        if (kma_fetch_add_u32(Cell_reported_at(w, cell), news, KMA_ACQ_REL) + news != bodies)
            return;
        kma_store_u32(Cell_reported_at(w, cell), 0, KMA_RELAXED);
        Cell_centre(w, cell) = cell_sum(w, cell);
        news = bodies;
    }
}

// ------ the version that builds the tree anew in each step: these two, and then the same insertion

static inline void body_move_out(global kma_world *w, Body self, Cell root)
{
    advance(w, self);
    Body_entry(w, self) = root;
}

static inline void cell_fell(global kma_world *w, Cell self)
{
    if (Cell_level(w, self) != 0) {
        Cell_delete(w, self);
        return;
    }
    for (uint i = 0; i < 8; i++)
        kma_store_u32(Cell_children_at(w, self, i), 0, KMA_RELAXED);
}
