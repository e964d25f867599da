// Lock-free singly linked list in a heap of any kind: any number of work-items push and traverse at
// the same time. Intrusive: a node is the user's struct with a kma_list_node as its first member.
// Made for objects that are gathered and then taken all at once, and for objects that belong to
// another one: a vertex's edges, a cell's particles.
//
//   #include "kma/containers/list.cl"
//
//   typedef struct edge {
//       kma_list_node node; // first: a pointer to it is one to the edge
//       uint to;
//   } edge;
//
//   global edge *e = KMA_NEW(heap, edge);
//   if (e) {
//       e->to = to;
//       kma_list_push(heap, edges, &e->node);
//   }
//
//   void kma_list_init    (list)                       an empty list; zeroes are one, too
//   void kma_list_push    (heap, list, node)           prepends a node
//   bool kma_list_push_on (heap, list, first, node)    the same if `first` is the newest node
//   node kma_list_first   (heap, list)                 the newest node, or NULL
//   node kma_list_next    (heap, node)                 the next older node, or NULL
//   node kma_list_take_all(heap, list)                 detaches all nodes: the newest, or NULL
//   node kma_list_remove  (heap, list, before, node)   takes one node out
//
// A kma_list is one ref in any global memory: a block of the heap, a buffer, another container's
// node. Its nodes are in one heap, each at a multiple of 16 bytes: a block, or an element of a
// block.
//
// Concurrency:
//
//   push, push_on, first, next   any work-items, concurrent with all functions
//   take_all                     any work-items, not concurrent with remove
//   remove                       one work-item at a time, not concurrent with take_all
//
// Why no node is lost, and why ABA does no harm.
//  - push reads `first`, stores it in the new node's `next`, and installs the new node by a
//    compare-and-swap. If `first` has the same ref again after other changes, the new node still
//    leads to the node that is first now. push reads no other node.
//  - remove of the first node swaps that node's ref for its `next`. The node cannot have left and
//    come back in between: only the caller takes nodes out, and no other lane changes a `next` in
//    the list.
//
// Memory orders. A push releases its node; first and take_all acquire. All writes to `first` are
// read-modify-writes: a lane that reads one of them has acquired all pushes before it, and with
// them all older nodes. Loads and stores of `next` are relaxed, and a removal publishes nothing
// new.
//
// Progress. A push is retried only after another lane's push, removal or take succeeded. A
// work-item that is stopped for ever costs the node that it was about to push, the chain that it
// took, or the node that it was about to remove and the turn to remove.
//
// When a node that was taken out may be freed or pushed again: when no other lane can be at it. If
// others traverse the list at the time, that is in a later kernel; until then the node stays as it
// is and still leads to the older nodes. If others only push: at once, as they read no node but
// their own.
#ifndef KMA_CONTAINERS_LIST_CL
#define KMA_CONTAINERS_LIST_CL

#include "kma/kma.cl"

typedef struct kma_list_node {
    kma_atomic_ref next; // kma_ref to kma_list_node
} kma_list_node;

typedef struct kma_list {
    kma_atomic_ref first; // newest first
} kma_list;

// Makes an empty list that no other lane knows yet.
static inline void kma_list_init(global kma_list *list)
{
    kma_ref_init(&list->first, KMA_NULL);
}

// Prepends `node`, which no other lane knows and which needs no initialisation. Release: earlier
// writes are visible to lanes that find the node. Any lane. A load and a compare-and-swap, one more
// for each concurrent change: slow if all work-items push on one list.
static inline void kma_list_push(global kma_heap *heap, global kma_list *list,
                                 global kma_list_node *node)
{
    const kma_ref ref = kma_ref_of(heap, node);
    kma_ref first = kma_load_u32(&list->first, KMA_RELAXED);
    for (;;) { // repeated only after another lane's change of `first`
        kma_ref_init(&node->next, first);
        const kma_ref before = kma_cas_u32(&list->first, first, ref, KMA_RELEASE);
        if (before == first)
            return;
        first = before;
    }
}

// kma_list_push if `first` (NULL: no node) is the newest node; returns whether it was. A node that
// was taken out and pushed again counts as the same `first`. Any lane. Release. One
// compare-and-swap.
static inline bool kma_list_push_on(global kma_heap *heap, global kma_list *list,
                                    global kma_list_node *first, global kma_list_node *node)
{
    const kma_ref before = kma_ref_of(heap, first);
    kma_ref_init(&node->next, before);
    return kma_cas_u32(&list->first, before, kma_ref_of(heap, node), KMA_RELEASE) == before;
}

// Returns the newest node, or NULL. From here kma_list_next leads to all nodes that were in the
// list at this moment, whatever others push. Any lane. Acquire. One load.
static inline global kma_list_node *kma_list_first(global kma_heap *heap, global kma_list *list)
{
    return (global kma_list_node *)kma_deref(heap, kma_ref_load_acquire(&list->first));
}

// Returns the next older node, or NULL. `node` was returned by these functions. Any lane. Relaxed,
// see the head. One load.
static inline global kma_list_node *kma_list_next(global kma_heap *heap, global kma_list_node *node)
{
    return (global kma_list_node *)kma_deref(heap, kma_load_u32(&node->next, KMA_RELAXED));
}

// Detaches all nodes and returns the newest, from which kma_list_next leads to the others, or NULL.
// The caller alone gets them; the head says when they may be freed. A caller that frees a node
// reads its next before. Any lane, not concurrent with remove. Acquire. One exchange.
static inline global kma_list_node *kma_list_take_all(global kma_heap *heap, global kma_list *list)
{
    return (global kma_list_node *)kma_deref(heap,
                                             kma_exchange_u32(&list->first, KMA_NULL, KMA_ACQUIRE));
}

// Removes `node`. `before`: a node that precedes it, preferably the adjacent one; NULL if `node`
// was the first when the caller saw it. Returns the node before the gap, or NULL if there is none:
// the `before` of the next call, as below. Returns NULL, without effect, if `node` is not in the
// list.
//
//   before = NULL;
//   for (n = kma_list_first(heap, list); n; n = next) { // until the list's end
//       next = kma_list_next(heap, n);
//       before = is_wanted(n) ? n : kma_list_remove(heap, list, before, n);
//   }
//
// One work-item at a time, not concurrent with take_all. One store if `before` is adjacent. Without
// `before` a compare-and-swap, and a load for each node pushed meanwhile.
static inline global kma_list_node *kma_list_remove(global kma_heap *heap, global kma_list *list,
                                                    global kma_list_node *before,
                                                    global kma_list_node *node)
{
    const kma_ref ref = kma_ref_of(heap, node);
    const kma_ref behind = kma_load_u32(&node->next, KMA_RELAXED);
    if (!before) {
        const kma_ref first = kma_cas_u32(&list->first, ref, behind, KMA_ACQUIRE);
        if (first == ref)
            return before;
        before = (global kma_list_node *)kma_deref(heap, first);
    }
    while (before) { // ends at the node, or at the list's end
        const kma_ref next = kma_load_u32(&before->next, KMA_RELAXED);
        if (next == ref) {
            kma_store_u32(&before->next, behind, KMA_RELAXED);
            break;
        }
        before = (global kma_list_node *)kma_deref(heap, next);
    }
    return before;
}

#endif
