// The kernels of the shortest paths sample: distances from one node to all others, in rounds
// (Bellman, 1958; Ford, 1956; in bundles of work as Spliet's thesis has it, 3.2.7). The graph is
// lists of links in a heap, one at each node. The items of a round are the nodes that came nearer
// in the round before: of each, all links are followed, and to where the way is shorter than what
// is known, the new distance is told. How many items a round will have nobody knows beforehand, so
// they are in a work queue.
//
// Within a round distances fall in any order, and a node may be worked on before it has come as
// near as it will in this round; then it is an item of the next round again. A node comes nearer
// only finitely often, and when none has, the work is done.
#include "kma/containers/list.cl"
#include "kma/containers/work_queue.cl"

typedef struct paths_link {
    kma_list_node node; // first
    KMA_PLAIN(uint) to; // number of a node
    KMA_PLAIN(uint) weight;
} paths_link;

typedef struct paths_node {
    kma_list links;          // of paths_link
    kma_atomic_u32 distance; // the shortest one that is known, PATHS_FAR before
    kma_atomic_u32 round;    // the last one that it is an item of; the first one has number 1
} paths_node;

#define PATHS_FAR 0xffffffffu

// The weight of the edge between two nodes, by their ids: 1 to `most`, by chance, but always the
// same.
static inline uint paths_weight(uint source, uint sink, uint most)
{
    return 1 + kma_mix32(kma_mix32(source) ^ sink) % most;
}

// Nodes without links, far away, a work-item for each.
kernel void paths_nodes(global paths_node *nodes, uint count)
{
    const size_t i = get_global_id(0);
    if (i >= count)
        return;
    kma_list_init(&nodes[i].links);
    kma_store_u32(&nodes[i].distance, PATHS_FAR, KMA_RELAXED);
    kma_store_u32(&nodes[i].round, 0, KMA_RELAXED);
}

// A link for each edge, a work-item for each. Edges have numbers of nodes, `ids` the nodes' ids.
kernel void paths_links(global kma_heap *heap, global paths_node *nodes, global const uint *ids,
                        global const uint *sources, global const uint *sinks, uint edges,
                        uint most_weight, global kma_atomic_u32 *lost)
{
    const size_t i = get_global_id(0);
    if (i >= edges)
        return;
    global paths_link *link = KMA_NEW(heap, paths_link);
    if (!link) {
        kma_fetch_add_u32(lost, 1, KMA_RELAXED);
        return;
    }
    link->to = sinks[i];
    link->weight = paths_weight(ids[sources[i]], ids[sinks[i]], most_weight);
    kma_list_push(heap, &nodes[sources[i]].links, &link->node);
}

// Puts a node into the round, once.
static inline void paths_add(global kma_heap *heap, global kma_array_list *list,
                             global paths_node *nodes, uint number, uint round,
                             global kma_atomic_u32 *lost)
{
    if (kma_exchange_u32(&nodes[number].round, round, KMA_RELAXED) == round)
        return;
    const uint index = kma_array_list_grow(heap, list, 1);
    if (index != KMA_ARRAY_LIST_NONE)
        *(global uint *)kma_array_list_get(heap, list, index) = number;
    else
        kma_fetch_add_u32(lost, 1, KMA_RELAXED);
}

// Whether a node comes nearer by this distance.
static inline bool paths_come_nearer(global paths_node *node, uint distance)
{
    uint known = kma_load_u32(&node->distance, KMA_RELAXED);
    while (distance < known) { // again if another has come nearer meanwhile
        const uint before = kma_cas_u32(&node->distance, known, distance, KMA_RELAXED);
        if (before == known)
            return true;
        known = before;
    }
    return false;
}

// The node where all ways begin is the first round. One work-item.
kernel void paths_start(global kma_heap *heap, kma_ref work, global paths_node *nodes,
                        global kma_atomic_u32 *lost, uint from)
{
    if (get_global_id(0) != 0)
        return;
    kma_store_u32(&nodes[from].distance, 0, KMA_RELAXED);
    paths_add(heap, kma_work_queue_next(heap, kma_work_queue_at(heap, work)), nodes, from, 1, lost);
}

// A round, a work-item for each of its nodes.
kernel void paths_round(global kma_heap *heap, kma_ref work, global paths_node *nodes,
                        global kma_atomic_u32 *lost, uint round)
{
    global kma_work_queue *queue = kma_work_queue_at(heap, work);
    global kma_array_list *now = kma_work_queue_now(heap, queue),
                          *next = kma_work_queue_next(heap, queue);
    const uint me = (uint)get_global_id(0);
    if (me >= kma_array_list_size(now))
        return;
    global paths_node *node = &nodes[*(global uint *)kma_array_list_get(heap, now, me)];
    const uint distance = kma_load_u32(&node->distance, KMA_RELAXED);
    global paths_link *link = (global paths_link *)kma_list_first(heap, &node->links);
    while (link) { // the list is complete and stands still
        if (paths_come_nearer(&nodes[link->to], distance + link->weight))
            paths_add(heap, next, nodes, link->to, round + 1, lost);
        link = (global paths_link *)kma_list_next(heap, &link->node);
    }
}
