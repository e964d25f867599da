// Kernels of the shortest paths sample: distances from one node to all others, in rounds (Bellman,
// 1958; Ford, 1956; in bundles of work as in Spliet's thesis, 3.2.7). Each node has a list of links
// in a heap. The items of a round are the nodes that came nearer in the round before. A round
// follows all links of its nodes, and lowers the distances of their targets where the path is
// shorter. The number of items is not known in advance: they are in a work queue.
//
// Within a round, distances decrease in any order. A node may be processed before its distance has
// reached the round's minimum; it is then an item of the next round again. A distance decreases
// only finitely often; the work is done when no distance decreases.
#include "kma/containers/list.cl"
#include "kma/containers/work_queue.cl"

typedef struct paths_link {
    kma_list_node node; // must be first
    KMA_PLAIN(uint) to; // number of a node
    KMA_PLAIN(uint) weight;
} paths_link;

typedef struct paths_node {
    kma_list links;          // of paths_link
    kma_atomic_u32 distance; // the shortest known; PATHS_FAR before
    kma_atomic_u32 round;    // the last round that has it as an item; the first round is 1
} paths_node;

#define PATHS_FAR 0xffffffffu

// Returns the weight of the edge between two nodes, given by their ids: 1 to `most`, by a hash.
static inline uint paths_weight(uint source, uint sink, uint most)
{
    return 1 + kma_mix32(kma_mix32(source) ^ sink) % most;
}

// Initializes the nodes, without links and far away. One work-item per node.
kernel void paths_nodes(global paths_node *nodes, uint count)
{
    const size_t i = get_global_id(0);
    if (i >= count)
        return;
    kma_list_init(&nodes[i].links);
    kma_store_u32(&nodes[i].distance, PATHS_FAR, KMA_RELAXED);
    kma_store_u32(&nodes[i].round, 0, KMA_RELAXED);
}

// Creates a link per edge, one work-item per edge. Edges have nodes' numbers; `ids` has the nodes'
// ids.
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

// Puts a node into the round, once. Counts it in `lost` if memory runs out.
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

// Lowers the node's distance; true if `distance` is less than the known one. Any lane; relaxed.
static inline bool paths_come_nearer(global paths_node *node, uint distance)
{
    uint known = kma_load_u32(&node->distance, KMA_RELAXED);
    while (distance < known) { // repeats while other lanes lower the distance
        const uint before = kma_cas_u32(&node->distance, known, distance, KMA_RELAXED);
        if (before == known)
            return true;
        known = before;
    }
    return false;
}

// Puts the first node into the first round. One work-item.
kernel void paths_start(global kma_heap *heap, kma_ref work, global paths_node *nodes,
                        global kma_atomic_u32 *lost, uint from)
{
    if (get_global_id(0) != 0)
        return;
    kma_store_u32(&nodes[from].distance, 0, KMA_RELAXED);
    paths_add(heap, kma_work_queue_next(heap, kma_work_queue_at(heap, work)), nodes, from, 1, lost);
}

// A round; one work-item per item.
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
    while (link) { // ends at the list's end; the list does not change
        if (paths_come_nearer(&nodes[link->to], distance + link->weight))
            paths_add(heap, next, nodes, link->to, round + 1, lost);
        link = (global paths_link *)kma_list_next(heap, &link->node);
    }
}
