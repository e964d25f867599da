// Lock-free binary search tree that only grows, in a heap of any kind (Spliet's clTree, thesis
// 6.2.3): any number of work-items look up keys and add nodes at the same time. Intrusive: a node
// is the user's struct with a kma_tree_node as its first member.
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
//   node kma_tree_add       (heap, tree, node) adds a node; returns the tree's node with its key
//   node kma_tree_first     (heap, tree)       the first node in order, or NULL
//   node kma_tree_after     (heap, tree, key)  the successor of the key, or NULL
//   node kma_tree_take_first(heap, tree)       takes the first node out, with exclusive access
//
// A kma_search_tree is one ref in any global memory: a block of the heap, a buffer, another
// container's node. Its nodes are in one heap, each at a multiple of 16 bytes: a block, or an
// element of a block.
//
// Order: by KMA_TREE_ORDER(key), a uint. The default is kma_mix32(key): the tree is not balanced,
// and consecutive keys such as ids would make it a list. With mixed keys the depth of n nodes is
// about 2 ln n, and a traversal has a fixed order without meaning.
//
// `#define KMA_TREE_ORDER(key) (key)` before the #include sorts by key, for keys that come in
// random order. All trees of a program have one order. It must be injective, as kma_mix32 is: of
// two keys with equal order kma_tree_after returns the first only.
//
// Invariant: a child ref is written once, from KMA_NULL, by a compare-and-swap, until nodes are
// taken out with exclusive access. A lane that follows refs never meets a node that left, and a
// failed add goes on one level deeper, below the node that another lane added. No call waits for
// another lane: a work-item that is stopped for ever costs the node that it was about to add.
//
// Memory orders: what a ref leads to is written before the ref is published (release), and read
// after the ref was found (acquire).
//
// When a node may be freed: not while any work-item can be in the tree, since it may stand on the
// node, and other nodes are found through it. No function removes a single key. With exclusive
// access, as in a later kernel, all nodes are freed at once: by kma_tree_take_first until it
// returns NULL, or with the memory that they are in, such as an array list. A node that
// kma_tree_add did not add is still the caller's, to be freed or reused at once.
#ifndef KMA_CONTAINERS_SEARCH_TREE_CL
#define KMA_CONTAINERS_SEARCH_TREE_CL

#include "kma/kma.cl"

#ifndef KMA_TREE_ORDER
#define KMA_TREE_ORDER(key) kma_mix32(key)
#endif

typedef struct kma_tree_node {
    KMA_PLAIN(uint) key;
    kma_atomic_ref left; // kma_ref to kma_tree_node: nodes before this one
    kma_atomic_ref right;
} kma_tree_node;

typedef struct kma_search_tree {
    kma_atomic_ref root;
} kma_search_tree;

// Makes an empty tree that no other lane knows yet.
static inline void kma_tree_init(global kma_search_tree *tree)
{
    kma_ref_init(&tree->root, KMA_NULL);
}

// Initialises a node that is in no tree and that no other lane knows.
static inline void kma_tree_node_init(global kma_tree_node *node, uint key)
{
    node->key = key;
    kma_ref_init(&node->left, KMA_NULL);
    kma_ref_init(&node->right, KMA_NULL);
}

// Returns the child ref below which `key` belongs; `node` has another key.
static inline global kma_atomic_ref *kma_tree_child(global kma_tree_node *node, uint key)
{
    return KMA_TREE_ORDER(key) < KMA_TREE_ORDER(node->key) ? &node->left : &node->right;
}

// Returns the node with `key`; NULL if it was not in the tree at some moment of the call. Any lane.
// Acquire: what was written before the node was added is visible. Two loads for each level.
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

// Adds an initialised node that no other lane knows. Returns the node in the tree with its key:
// `node`, or a node that another lane added first; then the caller still owns `node`. Any lane.
// Release, and acquire of the other's node. Costs as kma_tree_get, from the root, and one
// compare-and-swap, one more for each concurrent add at the same child ref.
static inline global kma_tree_node *
kma_tree_add(global kma_heap *heap, global kma_search_tree *tree, global kma_tree_node *node)
{
    const kma_ref ref = kma_ref_of(heap, node);
    const uint key = node->key;
    global kma_atomic_ref *place = &tree->root;
    for (;;) { // one level deeper each round
        // most child refs are set: a load costs less than a failing compare-and-swap
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

// Returns the first node in order, or NULL; while others add, the first at some moment of the call.
// Any lane. Acquire. One load for each level.
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

// Returns the first node in order after `key`, which need not be in the tree; NULL if there is
// none. With kma_tree_first it visits all nodes in order, without a stack or refs to parents:
//
//   for (n = kma_tree_first(heap, tree); n; n = kma_tree_after(heap, tree, n->key)) // in order
//
// While others add, the result was right at some moment of the call. The loop meets each node that
// was there at its start once, and some of those added meanwhile. Any lane. Acquire. Two loads for
// each level, down to the bottom.
static inline global kma_tree_node *kma_tree_after(global kma_heap *heap,
                                                   global kma_search_tree *tree, uint key)
{
    global kma_tree_node *next = (global kma_tree_node *)0;
    global kma_tree_node *node =
        (global kma_tree_node *)kma_deref(heap, kma_ref_load_acquire(&tree->root));
    while (node) { // one level deeper each round
        const bool is_behind = KMA_TREE_ORDER(key) < KMA_TREE_ORDER(node->key);
        if (is_behind)
            next = node; // any nearer successor is in its left subtree
        node = (global kma_tree_node *)kma_deref(
            heap, kma_ref_load_acquire(is_behind ? &node->left : &node->right));
    }
    return next;
}

// Takes the first node in order out of the tree and returns it, or NULL. One work-item, while no
// other can be in the tree. Rotates the path to the first node into a list of right children: all n
// nodes together take 2 n steps. If nodes are left, the tree is valid, and may be n levels deep.
static inline global kma_tree_node *kma_tree_take_first(global kma_heap *heap,
                                                        global kma_search_tree *tree)
{
    // exclusive access: nothing to acquire
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
