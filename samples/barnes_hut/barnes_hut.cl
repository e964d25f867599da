// Barnes and Hut's tree as objects that change from step to step. Rules: rules.cl. A Node is a Body
// or a Cell; it has the fields
//
//   centre  the centre of mass; the mass in w
//   reach   reach_of() of rules.cl; 0 for a body
//   parent  the Cell that contains the node
//   next    the node after this one and its subtree, in traversal order
//
// A traversal enters a cell by `first` and skips it by `next`. It needs no stack, unlike the
// traversal of Burtscher and Pingali (2011).
//
// Invariants between the do-alls (objects.cpp has their order):
//
// 1. `bodies` of a cell is the number of bodies in it or to be inserted below it. A body counts in
//    its `entry`, or in its parent if it has none, and in all cells above.
// 2. A body with `entry` 0 is in the octant that rules.cl says. A body with an entry is in no
//    octant, and the entry contains its place.
// 3. `also` of a body is the next body of its chain; 0 for the last one, and without a chain.
// 4. Cells never move: level, octant and parent are constant.
//
// No work-item waits for another. Why the work-items of each do-all do not interfere:
//
// body_attract  Reads the tree, and writes its own velocity only.
// body_move     Clears its own octant, which no lane reads, and subtracts itself from cells by
//               atomics. At the last level all bodies of a chain leave and are inserted again: no
//               body is removed from the middle of a chain.
// body_insert   An octant changes by compare-and-swap from empty to a body, then to a cell, and
//               never back. A CAS fails only if another lane's succeeded, at most twice per octant:
//               3 * DEPTH iterations are the most. A new cell is filled, with the body that was
//               there before in it, then published by release; the acquire load of the octant pairs
//               with it. That body itself is not changed: its own work-item may still use it.
//               Chains grow by an exchange, which cannot fail. No published cell and no body is
//               deleted here: no ABA.
// cell_prune    A cell below the root with fewer than two bodies is dead; all cells in it are dead,
//               too. The topmost dead cell of each branch replaces itself in its parent by its
//               body, or by 0. Only its own lane writes that octant, and no lane reads it: all
//               lanes read octants of dead cells only.
// cell_thread   Deletes dead cells, to which no reference leads any more. Every other cell writes
//               its own children and itself. It reads octants, and constant fields of the cells
//               above, which no lane writes.
// body_sum_up   Each body reports to its cell. The report that completes a cell makes its lane sum
//               up the cell and report to the next one; the other lanes end. Only one lane reads a
//               cell's contents; its acquire pairs with the releases of all other reports.
//
// If there is no memory for a cell, a body subtracts what it has counted and stays outside of the
// tree until the next step, with the root as its entry. It is attracted, but does not attract.
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

// Initializes a cell without bodies.
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
    // ends: the traversal only goes forward
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

// Moves a body by one step. Returns its previous place on the grid.
static inline uint3 advance(global kma_world *w, Body self)
{
    float3 place = Body_centre(w, self).xyz, velocity = Body_velocity(w, self);
    const uint3 before = grid_of(place);
    move(&place, &velocity);
    Body_centre(w, self).xyz = place;
    Body_velocity(w, self) = velocity;
    return before;
}

// Removes a body that leaves its octant from the tree, up to the smallest cell that contains both
// its old and its new place.
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
    // ends at the root at the latest, which contains all places
    for (; changed >> (DEPTH - Cell_level(w, cell)) != 0; cell = Cell_parent(w, cell))
        count(w, cell, -1);
    Body_entry(w, self) = cell;
}

// Returns a cell for that octant of `parent`, with `body` in it, not yet in the tree; 0 if memory
// is exhausted. Reuses `spare` if it is not 0.
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
    Cell outside = 0; // the root, if memory is exhausted
    // ends: each iteration goes a level down, or another lane has changed the octant
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
            spare = 0; // the next iteration enters the new cell
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
    while (Cell_is(w, only)) { // a level down each time, along the dead cell with a body
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

// Returns the node after a cell and its subtree; 0 if there is none.
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

// Returns the centre of mass and the mass of a cell with complete contents.
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
    uint news = 1; // number of bodies to report
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

// ------ the version that rebuilds the tree in each step: these two, then the same insertion

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
