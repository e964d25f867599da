// kma/containers/list.cl: work-items push, go along the list, take all, and take out some.
#include "kma/containers/list.cl"

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

// Counts a node that left the list in left[owner * rounds + number], and frees it.
static inline void leave(global kma_heap *heap, global kma_list_node *node, uint rounds, global kma_atomic_u32 *left)
{
    global item *gone = (global item *)node;
    kma_fetch_add_u32(&left[gone->owner * rounds + gone->number], 1, KMA_RELAXED);
    kma_free(heap, gone);
}

static inline void take(global kma_heap *heap, global kma_list *list, uint rounds, global kma_atomic_u32 *left)
{
    global kma_list_node *at = kma_list_take_all(heap, list);
    while (at) { // the chain is the caller's
        global kma_list_node *next = kma_list_next(heap, at);
        leave(heap, at, rounds, left);
        at = next;
    }
}

// All push, and every 64th one goes along the list: bad counts nodes that are not complete, and lists without his own.
kernel void push_all(global kma_heap *heap, global kma_list *list, uint rounds, global kma_atomic_u32 *bad)
{
    const uint me = (uint)get_global_id(0), items = (uint)get_global_size(0);
    for (uint round = 0; round < rounds; round++) {
        const bool is_pushed = push(heap, list, me, round);
        uint met = 0, wrong = 0, steps = 0;
        global kma_list_node *at = me % 64 == 0 ? kma_list_first(heap, list) : (global kma_list_node *)0;
        for (; at && steps <= items * rounds; steps++) {
            global item *one = (global item *)at;
            met += one->owner == me ? 1 : 0;
            wrong += one->owner < items && one->number < rounds ? 0 : 1;
            at = kma_list_next(heap, at);
        }
        if (!is_pushed || wrong != 0 || at || (me % 64 == 0 && met != round + 1))
            kma_fetch_add_u32(bad, 1, KMA_RELAXED);
    }
}

// All take at once, of which one gets each node.
kernel void take_all(global kma_heap *heap, global kma_list *list, uint rounds, global kma_atomic_u32 *left)
{
    take(heap, list, rounds, left);
}

// All push, and every 16th one takes what is there meanwhile.
kernel void push_and_take(global kma_heap *heap, global kma_list *list, uint rounds, global kma_atomic_u32 *left, global kma_atomic_u32 *bad)
{
    const uint me = (uint)get_global_id(0);
    for (uint round = 0; round < rounds; round++) {
        if (!push(heap, list, me, round))
            kma_fetch_add_u32(bad, 1, KMA_RELAXED);
        if (me % 16 == 5)
            take(heap, list, rounds, left);
    }
}

// The first work-item takes out every second node that it meets, again and again; the others push `pushes` nodes meanwhile.
kernel void push_and_remove(global kma_heap *heap, global kma_list *list, uint pushes, uint rounds, global kma_atomic_u32 *left,
                            global kma_atomic_u32 *bad)
{
    const uint me = (uint)get_global_id(0);
    for (uint round = 0; me != 0 && round < pushes; round++)
        if (!push(heap, list, me, round))
            kma_fetch_add_u32(bad, 1, KMA_RELAXED);
    for (uint round = 0; me == 0 && round < max(pushes, 1u); round++) {
        global kma_list_node *before = (global kma_list_node *)0;
        global kma_list_node *at = kma_list_first(heap, list);
        for (uint n = 0; at; n++) { // to the list's end; only this work-item takes nodes out
            global kma_list_node *next = kma_list_next(heap, at);
            if (n % 2 == 0) {
                before = kma_list_remove(heap, list, before, at);
                if (before && kma_list_next(heap, before) != next)
                    kma_fetch_add_u32(bad, 1, KMA_RELAXED);
                leave(heap, at, rounds, left);
            } else {
                before = at;
            }
            at = next;
        }
    }
}
