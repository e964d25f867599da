// Kernels of the graph sample: they build the tree from edges, then use it.
#include "kma/kma.cl"
#include "tree.cl"

// The kernels' shared state, in a buffer of its own; initially zero.
typedef struct graph_state {
    kma_search_tree tree;        // of graph_node
    kma_atomic_u32 edges_done;   // edges inserted
    kma_atomic_u32 frontier_end; // entries of the next breadth-first frontier
} graph_state;

// Inserts edges i, i + work-items, … of work-item i: two nodes and a link in the source's list.
// Stops at the first NULL; the host compares edges_done. `progress` counts the edges that each
// work-item has inserted: a further launch of the same shape continues there.
kernel void graph_build(global kma_heap *heap, global graph_state *state,
                        global const uint *sources, global const uint *sinks, uint edges,
                        uint keep_spare, global uint *progress)
{
    global graph_node *spare = (global graph_node *)0;
    const uint before = progress[get_global_id(0)];
    uint done = 0;
    for (size_t i = get_global_id(0) + before * get_global_size(0); i < edges;
         i += get_global_size(0)) {
        global graph_node *source =
            graph_ensure(heap, &state->tree, sources[i], keep_spare != 0, &spare);
        global graph_node *sink =
            graph_ensure(heap, &state->tree, sinks[i], keep_spare != 0, &spare);
        global graph_link *link = KMA_NEW(heap, graph_link);
        if (!source || !sink || !link) {
            kma_free(heap, link);
            break;
        }
        graph_push_link(heap, source, link, sink);
        kma_fetch_add_u32(&sink->in_links, 1, KMA_RELAXED);
        done++;
    }
    kma_free(heap, spare);
    progress[get_global_id(0)] = before + done;
    kma_fetch_add_u32(&state->edges_done, done, KMA_RELAXED);
}

// Writes for each key the number of links that leave and enter its node; UINT_MAX for both if the
// tree has no such node.
kernel void graph_degrees(global kma_heap *heap, global graph_state *state, global const uint *keys,
                          uint count, global uint *out_degrees, global uint *in_degrees)
{
    const size_t i = get_global_id(0);
    if (i >= count)
        return;
    out_degrees[i] = UINT_MAX;
    in_degrees[i] = UINT_MAX;
    global graph_node *node = graph_get(heap, &state->tree, keys[i]);
    if (!node)
        return;
    uint out = 0;
    global graph_link *link = graph_first_link(heap, node);
    while (link) { // ends at the list's end; the list does not change
        link = graph_next_link(heap, link);
        out++;
    }
    out_degrees[i] = out;
    in_degrees[i] = kma_load_u32(&node->in_links, KMA_RELAXED);
}

// Starts a search: puts the node of `key` into the first frontier, at level 0. Leaves the frontier
// empty if there is no such node.
kernel void graph_bfs_start(global kma_heap *heap, global graph_state *state, uint key,
                            global uint *frontier)
{
    if (get_global_id(0) != 0)
        return;
    global graph_node *node = graph_get(heap, &state->tree, key);
    kma_store_u32(&state->frontier_end, node ? 1 : 0, KMA_RELAXED);
    if (node) {
        kma_store_u32(&node->level, 0, KMA_RELAXED);
        frontier[0] = kma_ref_of(heap, node);
    }
}

// One level of the search: each unreached node that a node of the frontier links to gets `level`
// and joins the next frontier, once. `next` has space for all nodes; frontier_end is 0 before.
kernel void graph_bfs_level(global kma_heap *heap, global graph_state *state, uint level,
                            global const uint *frontier, uint count, global uint *next)
{
    const size_t i = get_global_id(0);
    if (i >= count)
        return;
    global graph_node *node = (global graph_node *)kma_deref(heap, frontier[i]);
    global graph_link *link = graph_first_link(heap, node);
    while (link) { // ends at the list's end; the list does not change
        global graph_node *sink = (global graph_node *)kma_deref(heap, link->sink);
        if (kma_load_u32(&sink->level, KMA_RELAXED) == GRAPH_UNREACHED &&
            kma_cas_u32(&sink->level, GRAPH_UNREACHED, level, KMA_RELAXED) == GRAPH_UNREACHED)
            next[kma_fetch_add_u32(&state->frontier_end, 1, KMA_RELAXED)] = kma_ref_of(heap, sink);
        link = graph_next_link(heap, link);
    }
}

// Writes the level of each key's node; GRAPH_UNREACHED if it has none.
kernel void graph_levels(global kma_heap *heap, global graph_state *state, global const uint *keys,
                         uint count, global uint *levels)
{
    const size_t i = get_global_id(0);
    if (i >= count)
        return;
    global graph_node *node = graph_get(heap, &state->tree, keys[i]);
    levels[i] = node ? kma_load_u32(&node->level, KMA_RELAXED) : GRAPH_UNREACHED;
}
