// The work that the indexed queue's tests give it. Every loop has a bound besides the queue's own.
#include "kma/lockfree/indexed_queue.cl"

// out: `each` places per work-item, for the items that it got; got: how many.
kernel void take(global kma_queue *queue, global uint *out, global uint *got, uint each)
{
    const size_t me = get_global_id(0);
    uint n = 0;
    for (; n < each; n++) {
        const uint item = kma_queue_dequeue(queue);
        if (item == KMA_QUEUE_EMPTY)
            break;
        out[me * each + n] = item;
    }
    got[me] = n;
}

// Puts in the items first, first + 1, …: `each` per work-item, as far as there are any.
kernel void put(global kma_queue *queue, uint first, uint each)
{
    const uint me = (uint)get_global_id(0);
    for (uint i = 0; i < each; i++)
        if (first + me * each + i < queue->capacity)
            kma_queue_enqueue(queue, first + me * each + i);
}

// What the owner of an item leaves for the next one, in plain words: a number and its complement, and how many owned it.
typedef struct payload {
    uint stamp;
    uint complement;
    uint owners;
} payload;

#define MOST 4

// Each round, each work-item takes up to `each` (<= MOST) items, owns them for a while, and puts them back.
// owner[item]: work-item + 1 while it is out. faults: 0 items owned twice, 1 wrong payloads, 2 items out of range.
kernel void churn(global kma_queue *queue, global kma_atomic_u32 *owner, global payload *payloads,
                  global kma_atomic_u32 *faults, global uint *got, uint rounds, uint each)
{
    const uint me = (uint)get_global_id(0);
    uint taken = 0;
    for (uint round = 0; round < rounds; round++) {
        uint items[MOST];
        uint n = 0;
        for (; n < each; n++) {
            const uint item = kma_queue_dequeue(queue);
            if (item == KMA_QUEUE_EMPTY)
                break;
            if (item >= queue->capacity) {
                kma_fetch_add_u32(&faults[2], 1, KMA_RELAXED);
                break;
            }
            if (kma_exchange_u32(&owner[item], me + 1, KMA_RELAXED) != 0)
                kma_fetch_add_u32(&faults[0], 1, KMA_RELAXED);
            if (payloads[item].complement != ~payloads[item].stamp)
                kma_fetch_add_u32(&faults[1], 1, KMA_RELAXED);
            items[n] = item;
        }
        taken += n;
        for (uint i = 0; i < n; i++) {
            const uint item = items[i];
            payloads[item].stamp = (me << 8) + round;
            payloads[item].owners++;
            payloads[item].complement = ~((me << 8) + round);
            if (kma_exchange_u32(&owner[item], 0, KMA_RELAXED) != me + 1)
                kma_fetch_add_u32(&faults[0], 1, KMA_RELAXED);
            kma_queue_enqueue(queue, item);
        }
    }
    got[me] = taken;
}
