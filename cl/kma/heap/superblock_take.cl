// One block for each lane of those that came together, whatever their classes: one draw for all that want the same.
#ifndef KMA_HEAP_SUPERBLOCK_TAKE_CL
#define KMA_HEAP_SUPERBLOCK_TAKE_CL

#include "kma/platform/lanes.cl"
#include "kma/heap/superblock_renew.cl"
#include "kma/heap/superblock_slots.cl"

#define KMA_SB_DAMAGED 0xffffffffu // instead of a ref: a ticket without a block

static inline kma_ref kma_sb_block(global kma_superblock *heap, uint size_class, uint sb, uint ticket)
{
    const uint slot = kma_sb_claim(heap, sb, heap->classes[size_class].slots, ticket);
    if (slot == KMA_SB_NO_SLOT)
        return KMA_SB_DAMAGED;
    return heap->plan.begin + (sb << heap->plan.shift) + slot * kma_class_units(size_class);
}

// A block for the caller alone; KMA_NULL at out of memory.
static inline kma_ref kma_sb_take_alone(global kma_superblock *heap, uint size_class)
{
    const kma_sb_share share = kma_sb_reserve(heap, size_class, 1);
    return share.count != 0 ? kma_sb_block(heap, size_class, share.superblock, share.first) : KMA_NULL;
}

// For each lane of the group a block of its class (KMA_CLASSES: it wants none), KMA_NULL at out of memory. In each
// round the first waiting lane of each class draws for all of them, and those who get a ticket leave; a round that
// gives only some of them tickets has spent an offer.
static inline kma_ref kma_sb_take(global kma_superblock *heap, kma_lanes group, uint size_class)
{
    const kma_lanes alike = kma_lanes_match(group, size_class, 7);
    kma_ref block = KMA_NULL;
    bool waits = size_class < KMA_CLASSES;
    for (;;) {
        const kma_lanes all_waiting = kma_lanes_ballot(group, waits);
        if (all_waiting == 0)
            return block;
        const kma_lanes waiting = all_waiting & alike;
        const uint leader = kma_lowest_bit(waits ? waiting : all_waiting); // of others: any lane will do
        kma_sb_share share;
        share.superblock = share.first = share.count = 0;
        if (waits && kma_lane_id() == leader)
            share = kma_sb_reserve(heap, size_class, kma_lanes_count(waiting));
        const uint sb = kma_lanes_shuffle(group, share.superblock, leader);
        const uint first = kma_lanes_shuffle(group, share.first, leader);
        const uint count = kma_lanes_shuffle(group, share.count, leader);
        kma_lanes_sync(group); // what the leader acquired, all need: the superblock may have had another class
        const uint rank = kma_lane_rank(waiting);
        if (waits && rank < count)
            block = kma_sb_block(heap, size_class, sb, first + rank);
        waits = waits && count != 0 && rank >= count;
    }
}

#endif
