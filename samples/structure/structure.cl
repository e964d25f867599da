// A material that breaks, with objects: nodes and springs that refer to each other. Rules:
// rules.cl. A NodeBase has its number and place; its velocity, or for a PulledNode its movement per
// step; its springs by direction, or 0; and its distance, in springs, from an anchor or a pulled
// node.
#include "rules.cl"

// Any number of work-items.
kernel void create_nodes(global kma_world *w, global NodeBase *nodes)
{
    for (uint cell = (uint)get_global_id(0); cell < CELLS; cell += (uint)get_global_size(0)) {
        const enum kind kind = kind_at_first(cell);
        const NodeBase node = kind == free_node     ? Node_new(w)
                              : kind == anchor_node ? AnchorNode_new(w)
                              : kind == pulled_node ? PulledNode_new(w)
                                                    : 0;
        nodes[cell] = node;
        if (node == 0)
            continue;
        NodeBase_number(w, node) = cell;
        NodeBase_place(w, node) = place_at_first(cell);
        NodeBase_velocity(w, node) = (int2)(0, kind == pulled_node ? -PULL : 0);
        for (uint direction = 0; direction < 6; direction++)
            NodeBase_springs(w, node, direction) = 0;
        kma_store_u32(NodeBase_distance_at(w, node), kind == free_node ? UNREACHED : 0,
                      KMA_RELAXED);
    }
}

// Runs after all nodes exist. Springs are created by direction: neighbouring work-items begin at
// neighbouring nodes. Any number of work-items.
kernel void create_springs(global kma_world *w, global const NodeBase *nodes)
{
    for (uint number = (uint)get_global_id(0); number < 3 * CELLS;
         number += (uint)get_global_size(0)) {
        const uint direction = number / CELLS, cell = number % CELLS,
                   other = neighbour(cell, direction);
        const bool is_there = other != NOWHERE && nodes[cell] != 0 && nodes[other] != 0;
        const Spring spring = is_there ? Spring_new(w) : 0;
        if (spring == 0)
            continue;
        Spring_begin(w, spring) = nodes[cell];
        Spring_end(w, spring) = nodes[other];
        Spring_direction(w, spring) = direction;
        Spring_rest(w, spring) = length_of(place_at_first(other) - place_at_first(cell));
        Spring_stiffness(w, spring) = stiffness_at_first(number);
        Spring_strength(w, spring) = strength_at_first(number);
        NodeBase_springs(w, nodes[cell], direction) = spring;
        NodeBase_springs(w, nodes[other], direction + 3) = spring;
    }
}

static inline void node_pull(global kma_world *w, PulledNode self)
{
    PulledNode_place(w, self) = add_sat(PulledNode_place(w, self), PulledNode_velocity(w, self));
}

// Pulls at a spring's ends. A spring that tears stays until the end of the step, with stiffness 0,
// which avoids an enumeration of springs before each relaxation; `torn` is set to this step.
static inline void spring_pull(global kma_world *w, Spring self, uint step,
                               global kma_atomic_u32 *torn)
{
    const uint stiffness = Spring_stiffness(w, self);
    if (stiffness == 0)
        return;
    const NodeBase begin = Spring_begin(w, self), end = Spring_end(w, self);
    const int2 way = sub_sat(NodeBase_place(w, end), NodeBase_place(w, begin));
    short2 force = 0;
    if (!holds(way, Spring_rest(w, self), stiffness, Spring_strength(w, self), &force)) {
        const uint direction = Spring_direction(w, self);
        NodeBase_springs(w, begin, direction) = 0;
        NodeBase_springs(w, end, direction + 3) = 0;
        Spring_stiffness(w, self) = 0;
        kma_store_u32(torn, step, KMA_RELAXED);
    }
    Spring_force(w, self) = force;
}

static inline void node_move(global kma_world *w, Node self)
{
    int2 place = Node_place(w, self), velocity = Node_velocity(w, self), sum = 0;
    for (uint direction = 0; direction < 6; direction++) {
        const Spring spring = Node_springs(w, self, direction);
        if (spring != 0)
            sum += convert_int2(Spring_force(w, spring)) * (direction < 3 ? 1 : -1);
    }
    move(&place, &velocity, sum);
    Node_place(w, self) = place;
    Node_velocity(w, self) = velocity;
}

// Returns the least distance of a node's neighbours.
static inline uint nearest(global kma_world *w, Node self)
{
    uint least = UNREACHED;
    for (uint direction = 0; direction < 6; direction++) {
        const Spring spring = Node_springs(w, self, direction);
        if (spring == 0)
            continue;
        const NodeBase other = direction < 3 ? Spring_end(w, spring) : Spring_begin(w, spring);
        least = min(least, kma_load_u32(NodeBase_distance_at(w, other), KMA_RELAXED));
    }
    return least;
}

// A round of the search. `latest` is the last round that changed anything; if it is not the
// previous round, the search has ended.
static inline void node_search(global kma_world *w, Node self, uint loses, uint round,
                               global kma_atomic_u32 *latest)
{
    if (kma_load_u32(latest, KMA_RELAXED) + 1 < round)
        return;
    const uint distance = kma_load_u32(Node_distance_at(w, self), KMA_RELAXED);
    if ((distance != UNREACHED) != loses)
        return;
    const uint after = distance_after(loses, distance, nearest(w, self));
    if (after == distance)
        return;
    kma_store_u32(Node_distance_at(w, self), after, KMA_RELAXED);
    kma_store_u32(latest, round, KMA_RELAXED);
}

// Deletes a spring that is torn or not held. Both ends of an intact spring are held, or neither.
static inline void spring_remove(global kma_world *w, Spring self)
{
    if (Spring_stiffness(w, self) == 0 ||
        kma_load_u32(NodeBase_distance_at(w, Spring_begin(w, self)), KMA_RELAXED) == UNREACHED)
        Spring_delete(w, self);
}

static inline void node_remove(global kma_world *w, Node self)
{
    if (kma_load_u32(Node_distance_at(w, self), KMA_RELAXED) == UNREACHED)
        Node_delete(w, self);
}
