// Work that makes work, in rounds: each round's items are worked on by one kernel, side by side,
// and what they lead to is put into the next round's (thesis 3.2.1, automata, and 3.2.7, dynamic
// programming). Of no round it need be known how many items it will have.
//
//   kernel void step(global kma_heap *heap, kma_ref work)
//   {
//       global kma_work_queue *queue = kma_work_queue_at(heap, work); global kma_array_list *now =
//       kma_work_queue_now(heap, queue), *next = kma_work_queue_next(heap, queue); const uint me =
//       (uint)get_global_id(0); if (me >= kma_array_list_size(now))
//           return;
//       const uint item = *(global uint *)kma_array_list_get(heap, now, me);
//       const uint first = kma_array_list_grow(heap, next, item % 3); // so many more
//       …
//   }
//
//   list *kma_work_queue_now   (heap, queue)        the bundle of items that are worked on
//   list *kma_work_queue_next  (heap, queue)        the bundle that is filled meanwhile
//   bool  kma_work_queue_turn  (heap, queue, keep)  between rounds: what was filled is worked on
//   bool  kma_work_queue_back  (heap, queue)        between rounds: back to the bundle that was kept last
//   void  kma_work_queue_delete(heap, queue)
//   kma_ref kma_work_queue_new (heap, bytes, align, objects, most)
//
// A bundle is an array list (array_list.cl), with all its functions. In memory:
//
//   queue: now  -> list
//          next -> list
//          kept -> { list, kept } -> { list, kept } -> …    the newest first
//
// As a queue, a bundle that was worked on is of no more use: turn empties it, and it is filled
// next, in the memory that it has, so that after some rounds the heap is not asked any more. As a
// stack (`keep`) it stays, and back goes through them in the reverse order. Nothing here is
// lock-free but the lists: turn and back are one work-item's, while nobody else uses the queue.
#ifndef KMA_CONTAINERS_WORK_QUEUE_CL
#define KMA_CONTAINERS_WORK_QUEUE_CL

#include "kma/containers/array_list.cl"

typedef struct kma_work_queue {
    uint item_bytes;
    uint align;
    uint items; // of a bundle's first block, and
    uint most;  // of its longest
    kma_ref now;
    kma_ref next;
    kma_ref kept; // the newest kma_work_kept, or KMA_NULL
} kma_work_queue;

// A bundle that was put aside.
typedef struct kma_work_kept {
    kma_ref list;
    kma_ref before; // the one that was put aside before
} kma_work_kept;

// The queue that a ref of kma_work_queue_new leads to.
static inline global kma_work_queue *kma_work_queue_at(global kma_heap *heap, kma_ref ref)
{
    return (global kma_work_queue *)kma_deref(heap, ref);
}

// The bundle whose items are worked on in this round: nobody lets it grow.
static inline global kma_array_list *kma_work_queue_now(global kma_heap *heap,
                                                        global kma_work_queue *queue)
{
    return kma_array_list_at(heap, queue->now);
}

// The bundle of the next round's items: all work-items let it grow.
static inline global kma_array_list *kma_work_queue_next(global kma_heap *heap,
                                                         global kma_work_queue *queue)
{
    return kma_array_list_at(heap, queue->next);
}

// A bundle like the queue's others; KMA_NULL, and a record, without memory.
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

// Frees the queue with all its bundles. One work-item, while nobody else uses it.
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

// A queue of items of `item_bytes`, whose bundles are array lists with these sizes
// (kma_array_list_new): nothing is worked on, and the first round's items go into
// kma_work_queue_next. KMA_NULL, and a record, without memory. To be passed on by a release.
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

// Puts the bundle that was worked on aside, and a new one in its place; whether there was memory
// for that.
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

// Begins the next round: what was filled is worked on, and an empty bundle is filled. The one that
// was worked on is that, or with `keep` it is put aside for kma_work_queue_back, which needs memory
// for another: false if there is none, and nothing has changed. One work-item, while nobody else
// uses the queue.
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

// Goes back: the bundle that was put aside last is worked on again, what is worked on now is freed,
// and what was filled is dropped. False if none is put aside, and nothing has changed. One
// work-item, while nobody else uses the queue.
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
