// Allocation for the lanes of a group, whatever their classes: one draw for all lanes of a class.
// Fallbacks when a class has no memory: larger classes, and aligned blocks of other sizes.
#ifndef KMA_HEAP_SUPERBLOCK_TAKE_CL
#define KMA_HEAP_SUPERBLOCK_TAKE_CL

#include "kma/platform/lanes.cl"
#include "kma/heap/common/aligned_spots.cl"
#include "kma/heap/common/ref.cl"
#include "kma/heap/superblock/renew.cl"
#include "kma/heap/superblock/slots.cl"

#define KMA_SUPERBLOCK_DAMAGED 0xffffffffu // instead of a ref: a ticket without a block

// The parts of the plan that a malloc needs. Read before its first atomic: an acquire may empty the
// cache.
typedef struct kma_superblock_shape {
    uint begin;
    uint shift;
    uint bitmaps;
    uint bitmap_words;
    uint units; // of a block of the class
    uint slots;
} kma_superblock_shape;

static inline kma_superblock_shape kma_superblock_shape_of(global kma_superblock *heap,
                                                           uint size_class)
{
    kma_superblock_shape shape;
    shape.begin = heap->plan.begin;
    shape.shift = heap->plan.shift;
    shape.bitmaps = heap->plan.bitmaps;
    shape.bitmap_words = heap->plan.bitmap_words;
    shape.units = kma_class_units(size_class);
    shape.slots = (1u << shape.shift) / shape.units;
    return shape;
}

// Returns the block for a ticket of superblock `sb`; KMA_SUPERBLOCK_DAMAGED if the bitmap has none.
static inline kma_ref kma_superblock_block(global kma_superblock *heap, kma_superblock_shape shape,
                                           uint sb, uint ticket)
{
    global kma_atomic_u32 *bitmap =
        (global kma_atomic_u32 *)((global uchar *)heap + (size_t)shape.bitmaps * KMA_UNIT) +
        (size_t)sb * shape.bitmap_words;
    const uint slot = kma_superblock_claim(heap, bitmap, sb, shape.slots, ticket);
    if (slot == KMA_SUPERBLOCK_NO_SLOT)
        return KMA_SUPERBLOCK_DAMAGED;
    return shape.begin + (sb << shape.shift) + slot * shape.units;
}

// Returns a block for the calling lane alone; KMA_NULL if out of memory, or what
// kma_superblock_block returns for damage.
static inline kma_ref kma_superblock_take_alone(global kma_superblock *heap, uint size_class)
{
    const kma_superblock_shape shape = kma_superblock_shape_of(heap, size_class);
    const kma_superblock_share share = kma_superblock_reserve(heap, size_class, shape.slots, 1);
    return share.count != 0 ? kma_superblock_block(heap, shape, share.superblock, share.first)
                            : KMA_NULL;
}

// Returns a block of its class for each lane of the group (KMA_CLASSES: it wants none); KMA_NULL if
// out of memory, or what kma_superblock_block returns for damage. All lanes of the group. In each
// round the first waiting lane of each class draws for all of them, and lanes that get a ticket
// leave. A round with tickets for only some has spent an offer.
static inline kma_ref kma_superblock_take(global kma_superblock *heap, kma_lanes group,
                                          uint size_class)
{
    const kma_superblock_shape shape =
        kma_superblock_shape_of(heap, min(size_class, KMA_CLASSES - 1));
    const kma_lanes alike = kma_lanes_match(group, size_class, 7);
    kma_ref block = KMA_NULL;
    bool waits = size_class < KMA_CLASSES;
    for (;;) { // at most as many rounds as lanes: in each a lane of each class leaves
        const kma_lanes all_waiting = kma_lanes_ballot(group, waits);
        if (all_waiting == 0)
            return block;
        const kma_lanes waiting = all_waiting & alike;
        // for a lane that does not wait, any lane will do
        const uint leader = kma_lowest_bit(waits ? waiting : all_waiting);
        kma_superblock_share share;
        share.superblock = share.first = share.count = 0;
        if (waits && kma_lane_id() == leader)
            share = kma_superblock_reserve(heap, size_class, shape.slots, kma_lanes_count(waiting));
        const uint sb = kma_lanes_shuffle(group, share.superblock, leader);
        const uint first = kma_lanes_shuffle(group, share.first, leader);
        const uint count = kma_lanes_shuffle(group, share.count, leader);
        // every lane needs what the leader acquired: the superblock may have had another class
        kma_lanes_sync(group);
        const uint rank = kma_lane_rank(waiting);
        if (waits && rank < count)
            block = kma_superblock_block(heap, shape, sb, first + rank);
        waits = waits && count != 0 && rank >= count;
    }
}

// ------ fallback: larger classes -----------------------------------------------------------------

// True if a class seems to have free blocks in its own superblocks: on offer, in the partial set,
// or as credit of the superblock with the spent offer. Relaxed.
static inline bool kma_superblock_has_room(global kma_superblock *heap, uint size_class)
{
    global kma_superblock_class *cls = &heap->classes[size_class];
    const kma_superblock_offer offer = kma_superblock_look(heap, size_class);
    if (kma_superblock_left(offer, cls->slots) != 0 ||
        kma_load_u32(&cls->partial.count, KMA_RELAXED) != 0)
        return true;
    return offer.superblock != KMA_SUPERBLOCK_NONE &&
           kma_superblock_count(kma_load_u32(
               &kma_superblock_state_of(heap, offer.superblock)->credit, KMA_RELAXED)) != 0;
}

// Returns a block, for the calling lane alone, of the smallest larger class that has one and has a
// size that is a multiple of `align` units; KMA_NULL if there is none. Looks once at each class.
static inline KMA_OUTLINE kma_ref kma_superblock_take_larger(global kma_superblock *heap,
                                                             uint size_class, uint align)
{
    kma_ref block = KMA_NULL;
    for (size_class++; size_class < heap->plan.size_classes && block == KMA_NULL; size_class++)
        if (kma_class_units(size_class) % align == 0 && kma_superblock_has_room(heap, size_class))
            block = kma_superblock_take_alone(heap, size_class);
    return block;
}

// ------ fallback: aligned blocks of sizes that are no multiple of the alignment ------------------

// Takes a block at an aligned slot of `sb`; KMA_NULL if none is free. The caller is its keeper,
// with `blocks` of it in hand. Gives back the other blocks and settles the superblock.
static inline kma_ref kma_superblock_take_slot(global kma_superblock *heap,
                                               kma_superblock_shape shape, uint sb, uint blocks,
                                               uint step)
{
    kma_superblock_pick_up(heap);
    blocks += kma_superblock_take_credit(heap, sb);
    const uint slot = blocks != 0
                          ? kma_aligned_claim(kma_superblock_bitmap(heap, sb), shape.slots, step)
                          : KMA_NO_SPOT;
    kma_superblock_return(heap, sb, slot != KMA_NO_SPOT ? blocks - 1 : blocks);
    kma_superblock_put_down(heap);
    return slot != KMA_NO_SPOT ? shape.begin + (sb << shape.shift) + slot * shape.units : KMA_NULL;
}

// Returns a block at a multiple of `align` units, for the calling lane alone. Its class is
// `size_class` or a larger one, of a size that is no multiple of `align`. KMA_NULL if the bounded
// search finds none (aligned_spots.cl).
static inline KMA_OUTLINE kma_ref kma_superblock_take_aligned(global kma_superblock *heap,
                                                              uint size_class, uint align)
{
    uint looks = KMA_ALIGNED_LOOKS;
    kma_ref block = KMA_NULL;
    for (; size_class < heap->plan.size_classes && block == KMA_NULL; size_class++) {
        const kma_superblock_shape shape = kma_superblock_shape_of(heap, size_class);
        if (shape.units % align == 0 || !kma_superblock_has_room(heap, size_class))
            continue;
        const uint step = kma_aligned_step(shape.units, align);
        const kma_superblock_offer offer = kma_superblock_look(heap, size_class);
        if (offer.superblock != KMA_SUPERBLOCK_NONE &&
            kma_aligned_find(kma_superblock_bitmap(heap, offer.superblock), shape.slots, step, 0,
                             &looks) != KMA_NO_SPOT &&
            kma_superblock_replace_offer(heap, size_class, offer,
                                         kma_superblock_offer_of(KMA_SUPERBLOCK_NONE, shape.slots)))
            block = kma_superblock_take_slot(heap, shape, offer.superblock,
                                             kma_superblock_left(offer, shape.slots), step);
        global kma_bitmap *const partial = &heap->classes[size_class].partial;
        global kma_atomic_u32 *const bits = kma_superblock_set(heap, size_class);
        kma_bitmap_walk walk = kma_bitmap_begin(partial, bits, heap->plan.set_words);
        while (block == KMA_NULL && looks != 0) { // each pass takes the next superblock
            const uint sb = kma_bitmap_next(&walk, bits, heap->plan.set_words);
            if (sb == KMA_BITMAP_NONE)
                break;
            if (kma_aligned_find(kma_superblock_bitmap(heap, sb), shape.slots, step, 0, &looks) !=
                    KMA_NO_SPOT &&
                kma_bitmap_take(partial, bits, sb))
                block = kma_superblock_take_slot(heap, shape, sb, 0, step);
        }
    }
    return block;
}

#endif
