// What the graph is made of: nodes in a search tree (kma/containers/search_tree.cl), ordered by
// their ids, mixed, and of each node a list of the links that leave it (kma/containers/list.cl).
// Nodes and links live in a kma heap and hold only refs.
//
// What a ref leads to is complete when it is found: both containers publish with release and look
// with acquire. Nothing is ever taken out of tree or lists, so a node or link is freed only if it
// never came in.
#ifndef GRAPH_TREE_CL
#define GRAPH_TREE_CL

#include "kma/containers/list.cl"
#include "kma/containers/search_tree.cl"

typedef struct graph_link {
    kma_list_node node; // first
    KMA_PLAIN(kma_ref) sink;
} graph_link;

typedef struct graph_node {
    kma_tree_node node;      // first
    kma_list links;          // of graph_link
    kma_atomic_u32 level;    // breadth-first distance, GRAPH_UNREACHED before
    kma_atomic_u32 in_links; // links whose sink this node is
} graph_node;

#define GRAPH_UNREACHED 0xffffffffu

static inline void graph_node_init(global graph_node *node, uint key)
{
    kma_tree_node_init(&node->node, key);
    kma_list_init(&node->links);
    kma_store_u32(&node->level, GRAPH_UNREACHED, KMA_RELAXED);
    kma_store_u32(&node->in_links, 0, KMA_RELAXED);
}

// The node with `key`; NULL if it was not in the tree at some moment of the call.
static inline global graph_node *graph_get(global kma_heap *heap, global kma_search_tree *tree,
                                           uint key)
{
    return (global graph_node *)kma_tree_get(heap, tree, key);
}

// The node with `key`, made if there is none; NULL if the heap is full. `*spare`, if not NULL, is a
// node from before that lost a race; the loser of this one is left there if `keep_spare`, else
// freed.
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

// Pushes a link to `sink` on the list of `source`.
static inline void graph_push_link(global kma_heap *heap, global graph_node *source,
                                   global graph_link *link, global graph_node *sink)
{
    link->sink = kma_ref_of(heap, sink);
    kma_list_push(heap, &source->links, &link->node);
}

// The link that was pushed last, and the one behind it; NULL if there is none.
static inline global graph_link *graph_first_link(global kma_heap *heap, global graph_node *node)
{
    return (global graph_link *)kma_list_first(heap, &node->links);
}

static inline global graph_link *graph_next_link(global kma_heap *heap, global graph_link *link)
{
    return (global graph_link *)kma_list_next(heap, &link->node);
}

#endif
