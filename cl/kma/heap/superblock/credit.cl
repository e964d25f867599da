// The keeper of a superblock, and the way of freed blocks back to malloc.
//
// At every moment, slots == taken + on offer + credit + in hand, where
//   taken      bits set in the bitmap, and tickets not used yet
//   on offer   slots - drawn, if the class's offer names the superblock
//   credit     blocks freed since, counted in the superblock's credit word
//   in hand    blocks that a lane took off the credit, to offer them or to give them back
//
// States of a superblock:
//
//       +------ dequeue, offer all ------> OFFERED <---- offer its credit ----+
//       |                                     |                               |
//     FREE                             spent, replaced                     PARTIAL
//       ^                                     v         credit 0 -> 1         ^
//       +---------- all blocks free ------- settle -------> FULL -------------+
//
//   FREE      KEPT, in the queue
//   OFFERED   KEPT, named by its class's offer
//   PARTIAL   KEPT, in its class's partial set
//   FULL      not KEPT; nothing refers to it
//
// KEPT, a bit of the credit word, says that the superblock is in the queue, the class's offer or
// the partial set, or that it has a keeper: the lane that took it out of one of these and has it in
// hand. The lane that gives a FULL superblock its first credit becomes its keeper. A keeper settles
// the superblock where it belongs. No lane waits for a keeper: a lane that finds nothing here
// searches elsewhere.
//
// A PARTIAL superblock with all blocks free goes back to the queue at once: the lane that freed the
// last block takes it out of the set. An OFFERED one stays for the class's next requests;
// kma_superblock_reclaim (superblock/renew.cl) takes it away when another class needs it.
//
// A work-item stopped in this file costs at most the one superblock that it has in hand.
#ifndef KMA_HEAP_SUPERBLOCK_CREDIT_CL
#define KMA_HEAP_SUPERBLOCK_CREDIT_CL

#include "kma/platform/memory.cl"
#include "kma/lockfree/bitmap.cl"
#include "kma/lockfree/indexed_queue.cl"
#include "kma/heap/superblock/layout.cl"

KMA_STATIC_ASSERT(sizeof(kma_queue) <= KMA_SUPERBLOCK_QUEUE_BYTES &&
                      sizeof(kma_queue_node) <= KMA_SUPERBLOCK_NODE_BYTES,
                  plan_has_room_for_queue);
KMA_STATIC_ASSERT(KMA_HAS_ATOMIC64 || KMA_QUEUE_MAX_CAPACITY == 65534u,
                  plan_knows_the_queues_limit);

static inline global kma_superblock_state *kma_superblock_state_of(global kma_superblock *heap,
                                                                   uint sb)
{
    return (global kma_superblock_state *)((global uchar *)heap +
                                           (size_t)heap->plan.states * KMA_UNIT) +
           sb;
}

static inline global kma_queue *kma_superblock_queue(global kma_superblock *heap)
{
    return (global kma_queue *)((global uchar *)heap + (size_t)heap->plan.queue * KMA_UNIT);
}

static inline global kma_atomic_u32 *kma_superblock_set(global kma_superblock *heap,
                                                        uint size_class)
{
    return (global kma_atomic_u32 *)((global uchar *)heap + (size_t)heap->plan.sets * KMA_UNIT) +
           (size_t)size_class * heap->plan.set_words;
}

// Counts a superblock as in hand. While one is, other lanes may search in vain although there is
// memory. A lane that finds nothing is out of memory only if meanwhile no superblock was in hand or
// put down. A hint: counted just after the superblock was taken, and read without a fence. A lane
// that is not alone may still get NULL too early when memory is nearly exhausted.
static inline void kma_superblock_pick_up(global kma_superblock *heap)
{
    kma_fetch_add_u32(&heap->moves, 1, KMA_RELAXED);
}

// Counts it as put down. Release: a lane that acquires `moves` sees where the superblock was put.
static inline void kma_superblock_put_down(global kma_superblock *heap)
{
    kma_fetch_add_u32(&heap->moves, KMA_SUPERBLOCK_PUT_DOWN - 1, KMA_RELEASE);
}

static inline uint kma_superblock_count(uint credit)
{
    return credit & ~KMA_SUPERBLOCK_KEPT;
}

// Returns the class of a superblock; with KMA_SUPERBLOCK_FREE set if it is free. The class is fixed
// while the caller has a block, credit or ticket of the superblock, or is its keeper.
static inline uint kma_superblock_content_of(global kma_superblock *heap, uint sb)
{
    return kma_load_u32(&kma_superblock_state_of(heap, sb)->content, KMA_RELAXED);
}

// Puts superblock `sb` where it belongs. Called by its keeper, which is not its keeper afterwards.
static inline KMA_OUTLINE void kma_superblock_settle(global kma_superblock *heap, uint sb)
{
    global kma_superblock_state *state = kma_superblock_state_of(heap, sb);
    const uint size_class = kma_superblock_content_of(heap, sb);
    global kma_superblock_class *cls = &heap->classes[size_class];
    // repeats only if another lane changed the credit, or freed the last block while `sb` went into
    // the set
    for (;;) {
        const uint credit = kma_load_u32(&state->credit, KMA_ACQUIRE);
        if (kma_superblock_count(credit) == 0) {
            // Release: the next keeper sees this one's writes, above all its queue node.
            if (kma_cas_u32(&state->credit, KMA_SUPERBLOCK_KEPT, 0, KMA_RELEASE) ==
                KMA_SUPERBLOCK_KEPT)
                return; // FULL
        } else if (kma_superblock_count(credit) == cls->slots) {
            // All free: no more frees can come, and only the keeper takes credit off.
            kma_store_u32(&state->credit, KMA_SUPERBLOCK_KEPT, KMA_RELAXED);
            kma_store_u32(&state->content, size_class | KMA_SUPERBLOCK_FREE, KMA_RELAXED);
            kma_queue_enqueue(kma_superblock_queue(heap), sb); // releases
            return; // FREE
        } else {
            kma_bitmap_put(&cls->partial, kma_superblock_set(heap, size_class), sb);
            // Another lane may have freed the last block before the put, and not found `sb` in the
            // set. Its credit is visible here: its failed take and this put are acquire-release
            // atomics on the same word.
            if (kma_superblock_count(kma_load_u32(&state->credit, KMA_RELAXED)) != cls->slots ||
                !kma_bitmap_take(&cls->partial, kma_superblock_set(heap, size_class), sb))
                return; // PARTIAL, or another took it out
        }
    }
}

// Adds `blocks`, until now the caller's own, to the credit of `sb`, of class `size_class`. Any
// lane. Release: the next owners of the blocks see what was done with them.
static inline void kma_superblock_give(global kma_superblock *heap, uint sb, uint size_class,
                                       uint blocks)
{
    global kma_superblock_state *state = kma_superblock_state_of(heap, sb);
    global kma_superblock_class *cls = &heap->classes[size_class];
    const uint slots = cls->slots;
    const uint before = kma_fetch_add_u32(&state->credit, blocks, KMA_RELEASE);
    bool keeps = before == 0; // it was FULL, which this lane alone observes
    if (keeps)
        kma_fetch_or_u32(&state->credit, KMA_SUPERBLOCK_KEPT, KMA_RELAXED);
    // all free: take it out of the set, unless it is on offer or in hand
    else if (kma_superblock_count(before) + blocks == slots)
        keeps = kma_bitmap_take(&cls->partial, kma_superblock_set(heap, size_class), sb);
    if (!keeps)
        return;
    // This lane is the keeper. It may be so late that the superblock was FREE and is PARTIAL again.
    // It is settled all the same.
    kma_superblock_pick_up(heap);
    kma_superblock_settle(heap, sb); // acquires
    kma_superblock_put_down(heap);
}

// Takes all credit of `sb` in hand and returns the number of blocks. Called by its keeper. Acquire:
// pairs with kma_superblock_give; the blocks' bits are clear.
static inline uint kma_superblock_take_credit(global kma_superblock *heap, uint sb)
{
    return kma_superblock_count(kma_fetch_and_u32(&kma_superblock_state_of(heap, sb)->credit,
                                                  KMA_SUPERBLOCK_KEPT, KMA_ACQUIRE));
}

// Gives back `blocks` that the caller has in hand, and settles `sb`. Called by its keeper, which is
// not its keeper afterwards.
static inline void kma_superblock_return(global kma_superblock *heap, uint sb, uint blocks)
{
    if (blocks != 0) // relaxed: settling acquires this word, then releases
        kma_fetch_add_u32(&kma_superblock_state_of(heap, sb)->credit, blocks, KMA_RELAXED);
    kma_superblock_settle(heap, sb);
}

#endif
