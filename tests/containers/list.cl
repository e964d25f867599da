// kma/containers/list.cl: work-items push, and walk the list, take all, or take out some. left: how
// often each item left the list. bad: counts what went wrong.
#include "kma/containers/list.cl"

#define ROUNDS 4 // items that a work-item pushes at most

typedef struct item {
    kma_list_node node; // first
    KMA_PLAIN(uint) owner;
    KMA_PLAIN(uint) number;
} item;

static inline bool push(global kma_heap *heap, global kma_list *list, uint owner, uint number)
{
    global item *mine = KMA_NEW(heap, item);
    if (!mine)
        return false;
    mine->owner = owner;
    mine->number = number;
    kma_list_push(heap, list, &mine->node);
    return true;
}

// Counts and frees a node that left the list.
static inline void leave(global kma_heap *heap, global kma_list_node *node,
                         global kma_atomic_u32 *left)
{
    global item *gone = (global item *)node;
    kma_fetch_add_u32(&left[gone->owner * ROUNDS + gone->number], 1, KMA_RELAXED);
    kma_free(heap, gone);
}

static inline void take(global kma_heap *heap, global kma_list *list, global kma_atomic_u32 *left)
{
    global kma_list_node *at = kma_list_take_all(heap, list);
    while (at) { // the chain is the caller's
        global kma_list_node *next = kma_list_next(heap, at);
        leave(heap, at, left);
        at = next;
    }
}

// Takes out every second node. Returns how many were followed by a wrong one.
static inline uint remove_half(global kma_heap *heap, global kma_list *list,
                               global kma_atomic_u32 *left)
{
    uint wrong = 0;
    global kma_list_node *before = (global kma_list_node *)0;
    global kma_list_node *at = kma_list_first(heap, list);
    for (uint n = 0; at; n++) { // to the list's end; only this work-item takes nodes out
        global kma_list_node *next = kma_list_next(heap, at);
        if (n % 2 == 0) {
            before = kma_list_remove(heap, list, before, at);
            wrong += before && kma_list_next(heap, before) != next ? 1 : 0;
            leave(heap, at, left);
        } else {
            before = at;
        }
        at = next;
    }
    return wrong;
}

// Walks the list. Returns the number of incomplete nodes, and of the owner's in a wrong place: it
// has pushed `mine`, the newest first.
static inline uint walk(global kma_heap *heap, global kma_list *list, uint owner, uint mine)
{
    const uint items = (uint)get_global_size(0);
    uint wrong = 0, steps = 0;
    global kma_list_node *at = kma_list_first(heap, list);
    for (; at && steps <= items * ROUNDS; steps++) {
        global item *one = (global item *)at;
        wrong += one->owner < items && one->number < ROUNDS ? 0 : 1;
        if (one->owner == owner)
            wrong += one->number == --mine ? 0 : 1;
        at = kma_list_next(heap, at);
    }
    return wrong + (mine != 0 || at ? 1 : 0);
}

#define WALK 0   // all push, and every 64th walks the list
#define TAKE 1   // all push, and every 16th takes what is there meanwhile; without pushes all take
#define REMOVE 2 // all but the first push, and the first takes nodes out

kernel void work(global kma_heap *heap, global kma_list *list, uint way, uint pushes, uint rounds,
                 global kma_atomic_u32 *left, global kma_atomic_u32 *bad)
{
    const uint me = (uint)get_global_id(0);
    for (uint round = 0; round < rounds; round++) {
        uint wrong = 0;
        if (pushes != 0 && (me != 0 || way != REMOVE))
            wrong += push(heap, list, me, round) ? 0 : 1;
        if (way == WALK && me % 64 == 0)
            wrong += walk(heap, list, me, round + 1);
        if (way == TAKE && (me % 16 == 5 || pushes == 0))
            take(heap, list, left);
        if (way == REMOVE && me == 0)
            wrong += remove_half(heap, list, left);
        kma_fetch_add_u32(bad, wrong, KMA_RELAXED);
    }
}
