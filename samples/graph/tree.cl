// A lock-free binary search tree of graph nodes, and each node's list of outgoing links (Spliet, thesis 6.2.3, clTree).
//
// Nodes and links live in a kma heap and hold only refs. A node is ordered by kma_mix32 of its key: ids that come in
// order 1, 2, 3 … would make a list of the tree; mixed they make one of logarithmic depth. kma_mix32 is a bijection,
// so equal order means equal key.
//
// Invariants: a child ref is written once, from KMA_NULL, by compare-and-swap, and never again; so who follows refs
// down never meets a node that left, and an insert retries only one level deeper, where another's insert succeeded.
// What a ref leads to is written before the ref is published (release) and read after it was found (acquire).
#ifndef GRAPH_TREE_CL
#define GRAPH_TREE_CL

#include "kma/kma.cl"

typedef struct graph_link {
    kma_atomic_ref next; // kma_ref to graph_link
    KMA_PLAIN(kma_ref) sink;
} graph_link;

typedef struct graph_node {
    KMA_PLAIN(uint) key;
    kma_atomic_ref left;
    kma_atomic_ref right;
    kma_atomic_ref links;    // newest first
    kma_atomic_u32 level;    // breadth-first distance, GRAPH_UNREACHED before
    kma_atomic_u32 in_links; // links whose sink this node is
} graph_node;

#define GRAPH_UNREACHED 0xffffffffu

static inline void graph_node_init(global graph_node *node, uint key)
{
    node->key = key;
    kma_ref_init(&node->left, KMA_NULL);
    kma_ref_init(&node->right, KMA_NULL);
    kma_ref_init(&node->links, KMA_NULL);
    kma_store_u32(&node->level, GRAPH_UNREACHED, KMA_RELAXED);
    kma_store_u32(&node->in_links, 0, KMA_RELAXED);
}

// The place where `key` goes below `node`.
static inline global kma_atomic_ref *graph_child(global graph_node *node, uint key)
{
    return kma_mix32(key) < kma_mix32(node->key) ? &node->left : &node->right;
}

// The node with `key`; NULL if it was not in the tree at some moment of the call.
static inline global graph_node *graph_get(global kma_heap *heap, global kma_atomic_ref *root, uint key)
{
    global kma_atomic_ref *at = root;
    for (;;) { // one level deeper each round
        global graph_node *node = (global graph_node *)kma_deref(heap, kma_ref_load_acquire(at));
        if (!node || node->key == key)
            return node;
        at = graph_child(node, key);
    }
}

// Puts an initialised node that no one else knows into the tree. Returns the node that now stands for its key:
// `node` itself, or another's that was there first; then `node` is still the caller's own.
static inline global graph_node *graph_add(global kma_heap *heap, global kma_atomic_ref *root, global graph_node *node)
{
    const kma_ref ref = kma_ref_of(heap, node);
    const uint key = node->key;
    global kma_atomic_ref *at = root;
    for (;;) { // one level deeper each round
        kma_ref there = kma_ref_load_acquire(at); // most places are taken: a load is cheaper than a failing exchange
        if (there == KMA_NULL)
            there = kma_ref_cas(at, KMA_NULL, ref);
        if (there == KMA_NULL)
            return node;
        global graph_node *other = (global graph_node *)kma_deref(heap, there);
        if (other->key == key)
            return other;
        at = graph_child(other, key);
    }
}

// The node with `key`, made if there is none; NULL if the heap is full. `*spare`, if not NULL, is a node from before
// that lost a race; the loser of this one is left there if `keep_spare`, else freed.
static inline global graph_node *graph_ensure(global kma_heap *heap, global kma_atomic_ref *root, uint key,
                                              bool keep_spare, global graph_node **spare)
{
    global graph_node *node = graph_get(heap, root, key);
    if (node)
        return node;
    node = *spare ? *spare : KMA_NEW(heap, graph_node);
    if (!node)
        return node;
    *spare = (global graph_node *)0;
    graph_node_init(node, key);
    global graph_node *there = graph_add(heap, root, node);
    if (there != node) {
        if (keep_spare)
            *spare = node;
        else
            kma_free(heap, node);
    }
    return there;
}

// Pushes a link to `sink` on the list of `source`. The list only grows, so a retry means another's push.
static inline void graph_push_link(global kma_heap *heap, global graph_node *source, global graph_link *link,
                                   global graph_node *sink)
{
    const kma_ref ref = kma_ref_of(heap, link);
    link->sink = kma_ref_of(heap, sink);
    kma_ref first = kma_load_u32(&source->links, KMA_RELAXED);
    for (;;) {
        kma_ref_init(&link->next, first);
        const kma_ref before = kma_ref_cas(&source->links, first, ref);
        if (before == first)
            return;
        first = before;
    }
}

#endif
