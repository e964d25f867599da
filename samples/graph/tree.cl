// The graph's objects: nodes in a search tree (kma/containers/search_tree.cl), ordered by a hash of
// their ids; and for each node a list of the links that leave it (kma/containers/list.cl). Nodes
// and links are blocks of a kma heap and refer to each other by refs only.
//
// An object is complete when a ref to it is found: both containers publish with release and load
// with acquire. Nothing is ever removed from the tree or the lists. A node or link is freed only if
// it was never inserted.
#ifndef GRAPH_TREE_CL
#define GRAPH_TREE_CL

#include "kma/containers/list.cl"
#include "kma/containers/search_tree.cl"

typedef struct graph_link {
    kma_list_node node; // must be first
    KMA_PLAIN(kma_ref) sink;
} graph_link;

typedef struct graph_node {
    kma_tree_node node;      // must be first
    kma_list links;          // of graph_link
    kma_atomic_u32 level;    // breadth-first distance; GRAPH_UNREACHED before the search
    kma_atomic_u32 in_links; // number of links to this node
} graph_node;

#define GRAPH_UNREACHED 0xffffffffu

static inline void graph_node_init(global graph_node *node, uint key)
{
    kma_tree_node_init(&node->node, key);
    kma_list_init(&node->links);
    kma_store_u32(&node->level, GRAPH_UNREACHED, KMA_RELAXED);
    kma_store_u32(&node->in_links, 0, KMA_RELAXED);
}

// Returns the node with `key`; NULL if at some moment of the call it was not in the tree. Any lane.
static inline global graph_node *graph_get(global kma_heap *heap, global kma_search_tree *tree,
                                           uint key)
{
    return (global graph_node *)kma_tree_get(heap, tree, key);
}

// Returns the node with `key`, and creates it if there is none; NULL if the heap is full. Any lane.
// Uses `*spare`, a node that lost an earlier race, if it is not NULL. If another lane inserts
// first, the lost node is stored in `*spare` if `keep_spare`, else freed.
static inline global graph_node *graph_ensure(global kma_heap *heap, global kma_search_tree *tree,
                                              uint key, bool keep_spare, global graph_node **spare)
{
    global graph_node *node = graph_get(heap, tree, key);
    if (node)
        return node;
    node = *spare ? *spare : KMA_NEW(heap, graph_node);
    if (!node)
        return node;
    *spare = (global graph_node *)0;
    graph_node_init(node, key);
    global graph_node *there = (global graph_node *)kma_tree_add(heap, tree, &node->node);
    if (there != node) {
        if (keep_spare)
            *spare = node;
        else
            kma_free(heap, node);
    }
    return there;
}

// Pushes `link`, to `sink`, onto the list of `source`. Any lane.
static inline void graph_push_link(global kma_heap *heap, global graph_node *source,
                                   global graph_link *link, global graph_node *sink)
{
    link->sink = kma_ref_of(heap, sink);
    kma_list_push(heap, &source->links, &link->node);
}

// Return the link pushed last, and the one after `link`; NULL at the list's end.
static inline global graph_link *graph_first_link(global kma_heap *heap, global graph_node *node)
{
    return (global graph_link *)kma_list_first(heap, &node->links);
}

static inline global graph_link *graph_next_link(global kma_heap *heap, global graph_link *link)
{
    return (global graph_link *)kma_list_next(heap, &link->node);
}

#endif
