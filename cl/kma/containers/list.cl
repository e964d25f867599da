// A singly linked list, in memory of any heap: any number of work-items push at once, and go along
// it meanwhile. Intrusive: a node is the user's struct, whose first member is a kma_list_node. For
// what is collected and taken all together, and for what hangs on something else: a vertex's edges,
// a cell's particles.
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
//   void kma_list_push    (heap, list, node)           a node in front of all others
//   bool kma_list_push_on (heap, list, first, node)    the same, if `first` is in front of all others still
//   node kma_list_first   (heap, list)                 the newest node, or NULL
//   node kma_list_next    (heap, node)                 the one behind it, or NULL
//   node kma_list_take_all(heap, list)                 takes all nodes out: the first of a chain that is the caller's
//   node kma_list_remove  (heap, list, before, node)   takes one node out
//
// A kma_list is a ref, wherever the user puts it: in a block of the heap, in a buffer, in another
// container's node. Its nodes are in one heap, each at a multiple of 16 bytes: a block of its own,
// or an element of one.
//
// Who may do what at the same time:
//
//   push, push_on, first, next   any work-items, while anything else goes on
//   take_all            any work-items, but while nobody removes
//   remove              one work-item at a time
//
// Why no node is lost, and ABA does no harm. Who pushes writes the first ref that he saw into his
// node, and puts it in front if that ref is the first still; or again, though everything else may
// be another than before: his node leads to what is first, all the same, and he looks at no other
// node. Who removes the first node swaps it for the one behind it. In between the node cannot have
// left and come again with another behind it: only he takes nodes out, and nobody else changes a
// `next` of the list.
//
// Orders: a push releases the node; who looks at the first ref acquires. All writes to it are
// read-modify-writes, so that who sees one of them has acquired all pushes before it, and so every
// node that is behind: a `next` orders nothing, and a removal, which publishes nothing new,
// neither. Nobody waits: a push is tried again only because another's push succeeded, or a removal
// or a take. A work-item that is stopped for ever anywhere costs the node that it was about to
// push, the chain that it took, or the node that it was about to remove, and its turn to remove.
//
// When a node may be freed, or pushed again: a node that was taken out, alone or with all, when
// nobody can be on it any more who goes along the list. If others go along at the time, that is in
// a later kernel: until then nodes that were taken stay as they are, and who is on one goes on to
// those that were behind. While others only push, at once, since they look at no node but their
// own.
#ifndef KMA_CONTAINERS_LIST_CL
#define KMA_CONTAINERS_LIST_CL

#include "kma/kma.cl"

typedef struct kma_list_node {
    kma_atomic_ref next; // kma_ref to kma_list_node
} kma_list_node;

typedef struct kma_list {
    kma_atomic_ref first; // newest first
} kma_list;

// An empty list, before others know it.
static inline void kma_list_init(global kma_list *list)
{
    kma_ref_init(&list->first, KMA_NULL);
}

// Puts a node, which need not be initialised and which no one else knows, in front of all others;
// what was written before may then be read by who finds it. Any work-item. A load and a
// compare-and-swap, one more for each other change in between: it is for lists on which not all
// work-items push at once.
static inline void kma_list_push(global kma_heap *heap, global kma_list *list,
                                 global kma_list_node *node)
{
    const kma_ref ref = kma_ref_of(heap, node);
    kma_ref first = kma_load_u32(&list->first, KMA_RELAXED);
    for (;;) { // again if another has pushed meanwhile, or taken
        kma_ref_init(&node->next, first);
        const kma_ref before = kma_cas_u32(&list->first, first, ref, KMA_RELEASE);
        if (before == first)
            return;
        first = before;
    }
}

// kma_list_push, if `first` is the newest node still, or again (NULL: if the list is empty):
// whether it was. What the caller knows of `first` holds then only if nobody takes nodes out
// meanwhile. Any work-item. A compare-and-swap.
static inline bool kma_list_push_on(global kma_heap *heap, global kma_list *list,
                                    global kma_list_node *first, global kma_list_node *node)
{
    const kma_ref before = kma_ref_of(heap, first);
    kma_ref_init(&node->next, before);
    return kma_cas_u32(&list->first, before, kma_ref_of(heap, node), KMA_RELEASE) == before;
}

// The newest node; NULL of an empty list. From here kma_list_next leads to all that were in the
// list at this moment, while others push. Any work-item. A load, acquiring.
static inline global kma_list_node *kma_list_first(global kma_heap *heap, global kma_list *list)
{
    return (global kma_list_node *)kma_deref(heap, kma_ref_load_acquire(&list->first));
}

// The node behind one that the caller got from these functions; NULL behind the last. A load, which
// orders nothing: see the head.
static inline global kma_list_node *kma_list_next(global kma_heap *heap, global kma_list_node *node)
{
    return (global kma_list_node *)kma_deref(heap, kma_load_u32(&node->next, KMA_RELAXED));
}

// Takes all nodes out: the newest, from which kma_list_next leads to the others, NULL of an empty
// list. Each node is taken by one work-item. They are the caller's, with what the head says of
// freeing them: who frees along the chain asks for the next one first. Any work-item, while nobody
// removes. One exchange.
static inline global kma_list_node *kma_list_take_all(global kma_heap *heap, global kma_list *list)
{
    return (global kma_list_node *)kma_deref(heap,
                                             kma_exchange_u32(&list->first, KMA_NULL, KMA_ACQUIRE));
}

// Takes out `node`. `before`: a node of the list in front of it, best the one directly in front;
// NULL if it was the first when the caller came by. Returns the node directly in front now, NULL if
// there is none, so that one walk can take out several; NULL as well, and nothing happens, if the
// node is not in the list.
//
//   before = NULL;
//   for (n = kma_list_first(heap, list); n; n = next) { // until the list's end
//       next = kma_list_next(heap, n);
//       before = is_wanted(n) ? n : kma_list_remove(heap, list, before, n);
//   }
//
// One work-item at a time, while nobody takes all. A store, behind `before`; without, a
// compare-and-swap, and if others have pushed meanwhile a load for each of their nodes.
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
    while (before) { // up to the node, or to the end if it is not there
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
