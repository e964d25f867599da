// Work queue: work that produces work, in rounds. One kernel processes the items of a round in
// parallel and adds the items of the next round (Spliet, thesis 3.2.1, automata, and 3.2.7, dynamic
// programming). The number of items of a round need not be known beforehand.
//
//   kernel void step(global kma_heap *heap, kma_ref work)
//   {
//       global kma_work_queue *queue = kma_work_queue_at(heap, work);
//       global kma_array_list *now = kma_work_queue_now(heap, queue);
//       global kma_array_list *next = kma_work_queue_next(heap, queue);
//       const uint me = (uint)get_global_id(0);
//       if (me >= kma_array_list_size(now))
//           return;
//       const uint item = *(global uint *)kma_array_list_get(heap, now, me);
//       const uint first = kma_array_list_grow(heap, next, item % 3); // adds up to two items
//       …
//   }
//
//   list *kma_work_queue_now   (heap, queue)        the bundle of this round's items
//   list *kma_work_queue_next  (heap, queue)        the bundle of the next round's items
//   bool  kma_work_queue_turn  (heap, queue, keep)  between rounds: begins the next round
//   bool  kma_work_queue_back  (heap, queue)        between rounds: returns to the bundle kept last
//   void  kma_work_queue_delete(heap, queue)        frees the queue and its bundles
//   kma_ref kma_work_queue_new (heap, bytes, align, objects, most)  makes an empty queue
//
// A bundle, the items of one round, is an array list (array_list.cl) with all its functions. In
// memory:
//
//   queue: now  -> list
//          next -> list
//          kept -> { list, kept } -> { list, kept } -> …    newest first
//
// As a queue, turn exchanges the two bundles and rewinds the one that is filled next: it keeps its
// memory, and after some rounds the heap is not used any more. As a stack, turn with `keep` sets
// the processed bundle aside, and back returns to the kept bundles in reverse order. turn and back
// are for one work-item, while no other uses the queue; only the lists are lock-free.
#ifndef KMA_CONTAINERS_WORK_QUEUE_CL
#define KMA_CONTAINERS_WORK_QUEUE_CL

#include "kma/containers/array_list.cl"

typedef struct kma_work_queue {
    uint item_bytes;
    uint align;
    uint items; // items of a bundle's first block
    uint most;  // items of its longest block
    kma_ref now;
    kma_ref next;
    kma_ref kept; // the newest kma_work_kept, or KMA_NULL
} kma_work_queue;

// A bundle that was set aside.
typedef struct kma_work_kept {
    kma_ref list;
    kma_ref before; // the kma_work_kept before this one, or KMA_NULL
} kma_work_kept;

// Returns the queue of a ref from kma_work_queue_new.
static inline global kma_work_queue *kma_work_queue_at(global kma_heap *heap, kma_ref ref)
{
    return (global kma_work_queue *)kma_deref(heap, ref);
}

// Returns the bundle of this round's items; no work-item adds to it. Any lane.
static inline global kma_array_list *kma_work_queue_now(global kma_heap *heap,
                                                        global kma_work_queue *queue)
{
    return kma_array_list_at(heap, queue->now);
}

// Returns the bundle of the next round's items, to which all work-items add. Any lane.
static inline global kma_array_list *kma_work_queue_next(global kma_heap *heap,
                                                         global kma_work_queue *queue)
{
    return kma_array_list_at(heap, queue->next);
}

// Makes an empty bundle. Returns KMA_NULL, with an error record, if there is no memory.
static inline kma_ref kma_work_queue_bundle(global kma_heap *heap,
                                            global const kma_work_queue *queue)
{
    return kma_array_list_new(heap, queue->item_bytes, queue->align, queue->items, queue->most);
}

static inline void kma_work_queue_free_bundle(global kma_heap *heap, kma_ref list)
{
    if (list != KMA_NULL)
        kma_array_list_delete(heap, kma_array_list_at(heap, list));
}

// Frees the queue and all its bundles. One work-item, while no other uses the queue.
static inline void kma_work_queue_delete(global kma_heap *heap, global kma_work_queue *queue)
{
    kma_ref at = queue->kept;
    while (at != KMA_NULL) { // one bundle less each time
        global kma_work_kept *kept = (global kma_work_kept *)kma_deref(heap, at);
        kma_work_queue_free_bundle(heap, kept->list);
        at = kept->before;
        kma_free(heap, kept);
    }
    kma_work_queue_free_bundle(heap, queue->now);
    kma_work_queue_free_bundle(heap, queue->next);
    kma_free(heap, queue);
}

// Makes an empty queue of items of `item_bytes`; `align`, `items` and `most` are those of
// kma_array_list_new for each bundle. The first round's items go into kma_work_queue_next. Returns
// KMA_NULL, with an error record, if there is no memory. The caller publishes the ref by a release.
static inline kma_ref kma_work_queue_new(global kma_heap *heap, uint item_bytes, uint align,
                                         uint items, uint most)
{
    global kma_work_queue *queue = KMA_NEW(heap, kma_work_queue);
    if (!queue)
        return KMA_NULL;
    queue->item_bytes = item_bytes;
    queue->align = align;
    queue->items = items;
    queue->most = most;
    queue->kept = KMA_NULL;
    queue->now = kma_work_queue_bundle(heap, queue);
    queue->next = kma_work_queue_bundle(heap, queue);
    if (queue->now != KMA_NULL && queue->next != KMA_NULL)
        return kma_ref_of(heap, queue);
    kma_work_queue_delete(heap, queue);
    return KMA_NULL;
}

// Sets the processed bundle aside and puts an empty one in its place. Returns false, without
// effect, if there is no memory.
static inline bool kma_work_queue_keep(global kma_heap *heap, global kma_work_queue *queue)
{
    global kma_work_kept *kept = KMA_NEW(heap, kma_work_kept);
    const kma_ref fresh = kept ? kma_work_queue_bundle(heap, queue) : KMA_NULL;
    if (fresh == KMA_NULL) {
        kma_free(heap, kept);
        return false;
    }
    kept->list = queue->now;
    kept->before = queue->kept;
    queue->kept = kma_ref_of(heap, kept);
    queue->now = fresh;
    return true;
}

// Begins the next round: `next` becomes `now`, and the old `now`, emptied, becomes `next`. With
// `keep` the old `now` is set aside for kma_work_queue_back, and `next` is a new bundle; returns
// false, without effect, if there is no memory for it. One work-item, while no other uses the
// queue.
static inline bool kma_work_queue_turn(global kma_heap *heap, global kma_work_queue *queue,
                                       bool keep)
{
    if (keep && !kma_work_queue_keep(heap, queue))
        return false;
    const kma_ref filled = queue->next;
    queue->next = queue->now;
    queue->now = filled;
    kma_array_list_rewind(kma_work_queue_next(heap, queue));
    return true;
}

// Returns to the bundle that was set aside last: frees `now`, empties `next`. Returns false,
// without effect, if none is set aside. One work-item, while no other uses the queue.
static inline bool kma_work_queue_back(global kma_heap *heap, global kma_work_queue *queue)
{
    if (queue->kept == KMA_NULL)
        return false;
    global kma_work_kept *kept = (global kma_work_kept *)kma_deref(heap, queue->kept);
    kma_work_queue_free_bundle(heap, queue->now);
    queue->now = kept->list;
    queue->kept = kept->before;
    kma_free(heap, kept);
    kma_array_list_rewind(kma_work_queue_next(heap, queue));
    return true;
}

#endif
