// A lock-free binary search tree that only grows, in memory of any heap (Spliet, thesis 6.2.3,
// clTree): any number of work-items look for keys and add nodes at once. Intrusive: a node is the
// user's struct, whose first member is a kma_tree_node.
//
//   #include "kma/containers/search_tree.cl"
//
//   typedef struct word {
//       kma_tree_node node; // first: a pointer to it is one to the word
//       kma_atomic_u32 count;
//   } word;
//
//   global word *w = (global word *)kma_tree_get(heap, words, key);
//   if (!w && (w = KMA_NEW(heap, word))) {
//       kma_tree_node_init(&w->node, key);
//       kma_store_u32(&w->count, 0, KMA_RELAXED);
//       global word *there = (global word *)kma_tree_add(heap, words, &w->node);
//       if (there != w)
//           kma_free(heap, w); // another work-item was first
//       w = there;
//   }
//
//   void kma_tree_init      (tree)             an empty tree; zeroes are one, too
//   void kma_tree_node_init (node, key)        a node that is in no tree
//   node kma_tree_get       (heap, tree, key)  the node with this key, or NULL
//   node kma_tree_add       (heap, tree, node) the node that stands for the key from now on: this one, or who was there first
//   node kma_tree_first     (heap, tree)       the first node in order, or NULL
//   node kma_tree_after     (heap, tree, key)  the one that comes next behind the key, or NULL
//   node kma_tree_take_first(heap, tree)       takes the first one out: alone, to free them all
//
// A kma_search_tree is a ref, wherever the user puts it: in a block of the heap, in a buffer, in
// another container's node. Its nodes are in one heap, each at a multiple of 16 bytes: a block of
// its own, or an element of one.
//
// Order: by KMA_TREE_ORDER(key), a uint, which is kma_mix32(key) unless the program defines another
// before the #include. Nothing balances the tree, and ids come in order: 1, 2, 3 … would make a
// list of it, in which each search takes as many steps as there are nodes. Mixed they come as if by
// chance, and n of them are some 2 ln n deep. So the order of a walk is none that means anything,
// but the same each time. `#define KMA_TREE_ORDER(key) (key)` sorts by key, for keys that come in
// no order themselves. Different keys must have different orders, as they have here, for kma_mix32
// is a bijection: of two with the same one a walk meets the first only. One order for all trees of
// a program.
//
// Invariants: a child ref is written once, from KMA_NULL, by a compare-and-swap, and never again,
// until somebody takes nodes out alone. So who follows refs down never meets a node that left, and
// an add goes on one level deeper, where another's succeeded. What a ref leads to is written before
// the ref is published (release) and read after it was found (acquire). Nobody waits: a work-item
// that is stopped for ever anywhere costs the node that it was about to add.
//
// When a node may be freed: while any work-item can be in the tree, never, since it may stand on
// the node, and others are found through it; so no function takes out a single one. When nobody can
// be there, as in a later kernel, all at once: by kma_tree_take_first until there is none, or with
// the memory that they are in, an array list's or the heap's. A node that kma_tree_add did not take
// is known to its owner only, who may free it at once or try it for another key.
#ifndef KMA_CONTAINERS_SEARCH_TREE_CL
#define KMA_CONTAINERS_SEARCH_TREE_CL

#include "kma/kma.cl"

#ifndef KMA_TREE_ORDER
#define KMA_TREE_ORDER(key) kma_mix32(key)
#endif

typedef struct kma_tree_node {
    KMA_PLAIN(uint) key;
    kma_atomic_ref left; // kma_ref to kma_tree_node: what comes before this one
    kma_atomic_ref right;
} kma_tree_node;

typedef struct kma_search_tree {
    kma_atomic_ref root;
} kma_search_tree;

// An empty tree, before others know it.
static inline void kma_tree_init(global kma_search_tree *tree)
{
    kma_ref_init(&tree->root, KMA_NULL);
}

// A node that no one else knows, and that is in no tree.
static inline void kma_tree_node_init(global kma_tree_node *node, uint key)
{
    node->key = key;
    kma_ref_init(&node->left, KMA_NULL);
    kma_ref_init(&node->right, KMA_NULL);
}

// The place where `key` goes below `node`, which has another.
static inline global kma_atomic_ref *kma_tree_child(global kma_tree_node *node, uint key)
{
    return KMA_TREE_ORDER(key) < KMA_TREE_ORDER(node->key) ? &node->left : &node->right;
}

// The node with `key`; NULL if it was not in the tree at some moment of the call. What its owner
// wrote before he added it may be read. Any work-item. A load for each level, acquiring, and one of
// the key.
static inline global kma_tree_node *kma_tree_get(global kma_heap *heap,
                                                 global kma_search_tree *tree, uint key)
{
    global kma_atomic_ref *at = &tree->root;
    for (;;) { // one level deeper each round
        global kma_tree_node *node =
            (global kma_tree_node *)kma_deref(heap, kma_ref_load_acquire(at));
        if (!node || node->key == key)
            return node;
        at = kma_tree_child(node, key);
    }
}

// Puts a node that was initialised, and that no one else knows, into the tree. Returns the node
// that stands for its key from now on: `node` itself, or another's that was there first; then
// `node` is still the caller's own. Any work-item. As kma_tree_get, and a compare-and-swap, one
// more for each other work-item that adds at the same place at the same time. Looks for the key
// from the root on: who has called kma_tree_get before, to make no node in vain, pays for both.
static inline global kma_tree_node *
kma_tree_add(global kma_heap *heap, global kma_search_tree *tree, global kma_tree_node *node)
{
    const kma_ref ref = kma_ref_of(heap, node);
    const uint key = node->key;
    global kma_atomic_ref *place = &tree->root;
    for (;;) { // one level deeper each round
        // most places are taken: a load is cheaper than a failing exchange
        kma_ref there = kma_ref_load_acquire(place);
        if (there == KMA_NULL)
            there = kma_ref_cas(place, KMA_NULL, ref);
        if (there == KMA_NULL)
            return node;
        global kma_tree_node *other = (global kma_tree_node *)kma_deref(heap, there);
        if (other->key == key)
            return other;
        place = kma_tree_child(other, key);
    }
}

// The first node in the tree's order, NULL if there is none; while others add, the first at some
// moment of the call. Any work-item. A load for each level.
static inline global kma_tree_node *kma_tree_first(global kma_heap *heap,
                                                   global kma_search_tree *tree)
{
    global kma_tree_node *first = (global kma_tree_node *)0;
    global kma_tree_node *node =
        (global kma_tree_node *)kma_deref(heap, kma_ref_load_acquire(&tree->root));
    while (node) { // one level deeper each round
        first = node;
        node = (global kma_tree_node *)kma_deref(heap, kma_ref_load_acquire(&node->left));
    }
    return first;
}

// The node that comes next in the tree's order behind `key`, which need not be in the tree; NULL if
// there is none. So all nodes can be visited in order, without a stack and without refs to parents:
//
//   for (n = kma_tree_first(heap, tree); n; n = kma_tree_after(heap, tree, n->key)) // each comes
//   behind the one before
//
// While others add, it is the next one at some moment of the call; such a walk meets each node that
// was there when it began, once, and of those added meanwhile some. Any work-item. Cost as
// kma_tree_get, to the bottom: a walk takes the number of nodes times the depth.
static inline global kma_tree_node *kma_tree_after(global kma_heap *heap,
                                                   global kma_search_tree *tree, uint key)
{
    global kma_tree_node *next = (global kma_tree_node *)0;
    global kma_tree_node *node =
        (global kma_tree_node *)kma_deref(heap, kma_ref_load_acquire(&tree->root));
    while (node) { // one level deeper each round
        const bool is_behind = KMA_TREE_ORDER(key) < KMA_TREE_ORDER(node->key);
        if (is_behind)
            next = node; // whatever is on its left and behind the key comes before it
        node = (global kma_tree_node *)kma_deref(
            heap, kma_ref_load_acquire(is_behind ? &node->left : &node->right));
    }
    return next;
}

// Takes the first node in order out of the tree, which is the caller's then: NULL if there is none.
// One work-item, while no other can be in the tree. It turns the way to the first node over into a
// list on the right, so that all n nodes together take 2 n steps; if nodes are left the tree may be
// as deep as it has nodes, though right.
static inline global kma_tree_node *kma_tree_take_first(global kma_heap *heap,
                                                        global kma_search_tree *tree)
{
    // nobody else is here: nothing to acquire
    kma_ref first = kma_load_u32(&tree->root, KMA_RELAXED);
    global kma_tree_node *node = (global kma_tree_node *)kma_deref(heap, first);
    if (!node)
        return node;
    kma_ref before = kma_load_u32(&node->left, KMA_RELAXED);
    while (before != KMA_NULL) { // one node fewer on the left each round
        global kma_tree_node *child = (global kma_tree_node *)kma_deref(heap, before);
        kma_ref_init(&node->left, kma_load_u32(&child->right, KMA_RELAXED));
        kma_ref_init(&child->right, first);
        first = before;
        node = child;
        before = kma_load_u32(&node->left, KMA_RELAXED);
    }
    kma_ref_init(&tree->root, kma_load_u32(&node->right, KMA_RELAXED));
    return node;
}

#endif
