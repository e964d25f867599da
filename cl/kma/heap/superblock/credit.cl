// Who is responsible for a superblock, and how its freed blocks get to those who ask.
//
// A superblock's blocks are, at every moment,   slots == taken + on offer + credit + in hand
//   taken      handed out, or drawn and about to be: the bits of the bitmap, and the tickets not used yet
//   on offer   the class's offer names the superblock and has drawn < slots
//   credit     freed since, in the superblock's credit word
//   in hand    taken off the credit by a work-item that is about to offer them or to give them back
//
// States, by the credit word and who knows of the superblock:
//
//           +------ dequeue, offer all ------> OFFERED <--- offer its credit ----+
//           |                                     |                              |
//         FREE                                spent, replaced                 PARTIAL (KEPT, in the partial set)
//           ^                                     v        credit 0 -> 1         ^
//           |                                 settle ------> FULL (not KEPT) ----+
//           +----- all blocks free ---------------+          nobody knows it
//
// KEPT says that somebody is responsible: the queue, the class's offer, the partial set, or a
// work-item that has it in its hands (it took it out of one of these). Only a FULL superblock has
// no keeper; the first credit it gets makes the work-item that gave it its keeper. A keeper settles
// the superblock where it belongs. Nobody ever waits for a keeper: who finds nothing here looks
// elsewhere.
//
// A superblock whose blocks are all free goes back to the queue at once if it is PARTIAL, since the
// one who freed the last block takes it out of the set. While it is OFFERED it stays, ready for the
// next; kma_superblock_reclaim in superblock/renew.cl takes it away when others need it.
//
// A work-item stopped for ever in here costs the one superblock that it has in its hands.
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

// While a superblock is in somebody's hands, others may look for one in vain though there is
// memory. So he counts it, and who finds nothing is out of memory only if nobody had one in hand,
// nor put one down, while he looked. A hint: it is counted just after it was taken, and read
// without a fence, so that at the brink a caller who is not alone may still get NULL a moment too
// early.
static inline void kma_superblock_pick_up(global kma_superblock *heap)
{
    kma_fetch_add_u32(&heap->moves, 1, KMA_RELAXED);
}

// Release: who sees that it was put down sees where.
static inline void kma_superblock_put_down(global kma_superblock *heap)
{
    kma_fetch_add_u32(&heap->moves, KMA_SUPERBLOCK_PUT_DOWN - 1, KMA_RELEASE);
}

static inline uint kma_superblock_count(uint credit)
{
    return credit & ~KMA_SUPERBLOCK_KEPT;
}

// What the superblock is for: its class, if it is not free, which it is not while the caller has a
// block, credit or ticket of it, or is its keeper.
static inline uint kma_superblock_content_of(global kma_superblock *heap, uint sb)
{
    return kma_load_u32(&kma_superblock_state_of(heap, sb)->content, KMA_RELAXED);
}

// Its keeper puts superblock `sb` where it belongs, and is its keeper no longer.
static inline KMA_OUTLINE void kma_superblock_settle(global kma_superblock *heap, uint sb)
{
    global kma_superblock_state *state = kma_superblock_state_of(heap, sb);
    const uint size_class = kma_superblock_content_of(heap, sb);
    global kma_superblock_class *cls = &heap->classes[size_class];
    // once more only if another changed the credit, or put it to the full while it went into the
    // set
    for (;;) {
        const uint credit = kma_load_u32(&state->credit, KMA_ACQUIRE);
        if (kma_superblock_count(credit) == 0) {
            // Release: the next keeper sees what this one did, its queue node above all.
            if (kma_cas_u32(&state->credit, KMA_SUPERBLOCK_KEPT, 0, KMA_RELEASE) ==
                KMA_SUPERBLOCK_KEPT)
                return; // FULL
        } else if (kma_superblock_count(credit) == cls->slots) {
            // All free: no more frees can come, and nobody but its keeper takes credit off.
            kma_store_u32(&state->credit, KMA_SUPERBLOCK_KEPT, KMA_RELAXED);
            kma_store_u32(&state->content, size_class | KMA_SUPERBLOCK_FREE, KMA_RELAXED);
            kma_queue_enqueue(kma_superblock_queue(heap), sb); // releases
            return; // FREE
        } else {
            kma_bitmap_put(&cls->partial, kma_superblock_set(heap, size_class), sb);
            // The last block may have been freed before that, by one who then did not find `sb` in
            // the set: if so, his credit is seen here, since each of the two is an acquiring and
            // releasing atomic on the same word.
            if (kma_superblock_count(kma_load_u32(&state->credit, KMA_RELAXED)) != cls->slots ||
                !kma_bitmap_take(&cls->partial, kma_superblock_set(heap, size_class), sb))
                return; // PARTIAL, or another took it out
        }
    }
}

// Adds `blocks` to the credit of `sb`, of class `size_class`; they were the caller's own until now.
// Release: what was done with them is seen by whoever gets them.
static inline void kma_superblock_give(global kma_superblock *heap, uint sb, uint size_class,
                                       uint blocks)
{
    global kma_superblock_state *state = kma_superblock_state_of(heap, sb);
    global kma_superblock_class *cls = &heap->classes[size_class];
    const uint slots = cls->slots;
    const uint before = kma_fetch_add_u32(&state->credit, blocks, KMA_RELEASE);
    bool keeps = before == 0; // FULL till now, and this is the only one to see that
    if (keeps)
        kma_fetch_or_u32(&state->credit, KMA_SUPERBLOCK_KEPT, KMA_RELAXED);
    // all free: in the set, if not on offer nor in other hands
    else if (kma_superblock_count(before) + blocks == slots)
        keeps = kma_bitmap_take(&cls->partial, kma_superblock_set(heap, size_class), sb);
    if (!keeps)
        return;
    // The keeper, perhaps so late that the superblock was free and is partly so again: it is
    // settled all the same.
    kma_superblock_pick_up(heap);
    kma_superblock_settle(heap, sb); // acquires
    kma_superblock_put_down(heap);
}

// Its keeper takes all credit of `sb` into his hands; returns how many blocks that is. Acquire: who
// gets them finds their bits clear.
static inline uint kma_superblock_take_credit(global kma_superblock *heap, uint sb)
{
    return kma_superblock_count(kma_fetch_and_u32(&kma_superblock_state_of(heap, sb)->credit,
                                                  KMA_SUPERBLOCK_KEPT, KMA_ACQUIRE));
}

// Its keeper gives back blocks that he has in hand, and the superblock with them.
static inline void kma_superblock_return(global kma_superblock *heap, uint sb, uint blocks)
{
    if (blocks != 0) // relaxed: settling acquires this word, and what it does then releases
        kma_fetch_add_u32(&kma_superblock_state_of(heap, sb)->credit, blocks, KMA_RELAXED);
    kma_superblock_settle(heap, sb);
}

#endif
