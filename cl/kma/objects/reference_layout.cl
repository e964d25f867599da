// Records of the kernels that follow references, and the plan of a defragmentation: types and
// arithmetic only, shared with the host library like world_layout.cl.
#ifndef KMA_OBJECTS_REFERENCE_LAYOUT_CL
#define KMA_OBJECTS_REFERENCE_LAYOUT_CL

#include "kma/objects/world_layout.cl"

#define KMA_DEFRAGMENT_ITEMS 256u     // work-items of a work-group, at most
#define KMA_DEFRAGMENT_RUN 32u        // blocks of a work-item: a bit each in one word
#define KMA_DEFRAGMENT_FILLS 65u      // a block has 0 to 64 objects
#define KMA_DEFRAGMENT_SHARE 1000000u // shares of slots are in millionths
#define KMA_DANGLING_KEPT 10u         // as many as the host reports

// The goal of a defragmentation.
typedef struct kma_defragment_order {
    uint worse;   // do nothing unless more than this share of slots in blocks is empty
    uint share;   // leave at most this share empty, or as little as possible
    uint objects; // move so many at most
} kma_defragment_order;

// Which blocks of a class are sources: those with fewer objects than `limit`, and `extra` of those
// with `limit`. Targets are the other blocks with free slots.
typedef struct kma_defragment_plan {
    uint limit, extra;
    uint sources, targets;
    uint objects;       // of all sources
    uint before, after; // the empty share of slots in blocks
} kma_defragment_plan;

// One defragmentation, of one class or several. All zero when it begins.
typedef struct kma_defragmentation {
    kma_defragment_plan plan; // of the current class
    uint objects, blocks;     // moved objects and freed blocks, of all classes
    uint before, after;       // the largest share of a class
} kma_defragmentation;

// Sums over blocks of a class.
typedef struct kma_block_sums {
    uint fewer, fewer_objects; // blocks with fewer objects than `limit`; their objects
    uint equal;                // blocks with `limit` objects
    uint more, more_room;      // blocks with more objects and a free slot; their free slots
} kma_block_sums;

#define KMA_BLOCK_SUMS 5u // numbers in it

// A dangling reference: one that leads to no object of its field's class.
typedef struct kma_dangling {
    uint holder;  // the object that has it, as a reference; 0: it is in a root
    uint column;  // number of its field in Schema::Concrete::columns
    uint element; // of the field, or of the root
    uint reference;
} kma_dangling;

typedef struct kma_dangling_log {
    kma_atomic_u32 count; // of all
    kma_dangling first[KMA_DANGLING_KEPT];
} kma_dangling_log;

// ------ a collection (collect.cl) ----------------------------------------------------------------

#define KMA_REACH_ROUNDS 16u // enqueued at once

// All zero when a collection begins.
typedef struct kma_reach {
    kma_atomic_u32 counts[KMA_REACH_ROUNDS + 1]; // of objects in each round's queue
    kma_atomic_u32 dropped;                      // 1 if a full queue dropped an object
    kma_atomic_u32 kept;                         // objects
    kma_atomic_u32 deleted;
} kma_reach;

// Returns the share of the slots of `blocks` blocks that `objects` objects leave empty.
static inline uint kma_empty_share(ulong blocks, ulong objects, uint slots)
{
    const ulong in_blocks = blocks * slots;
    return in_blocks == 0 ? 0 : (uint)((in_blocks - objects) * KMA_DEFRAGMENT_SHARE / in_blocks);
}

// Plans a defragmentation: keeps the fewest of the fullest blocks that reach the share and have
// free slots for the objects of the others. `fills[n]` is the number of blocks with n objects.
static inline kma_defragment_plan kma_defragment_plan_of(const uint *fills, uint slots,
                                                         kma_defragment_order order)
{
    kma_defragment_plan plan = {0, 0, 0, 0, 0, 0, 0};
    ulong blocks = 0, objects = 0;
    for (uint n = 1; n <= slots; n++) {
        blocks += fills[n];
        objects += (ulong)fills[n] * n;
    }
    plan.before = plan.after = kma_empty_share(blocks, objects, slots);
    if (plan.before <= order.worse || order.share >= KMA_DEFRAGMENT_SHARE)
        return plan;
    const ulong least = (objects + slots - 1) / slots;
    const ulong most =
        objects * KMA_DEFRAGMENT_SHARE / ((ulong)slots * (KMA_DEFRAGMENT_SHARE - order.share));
    const ulong kept = min(max(least, most), blocks);
    ulong left = blocks - kept;
    uint may_move = order.objects;
    for (uint n = 1; n < slots; n++) {
        plan.limit = n;
        plan.extra = (uint)min(min((ulong)fills[n], left), (ulong)(may_move / n));
        plan.sources += plan.extra;
        plan.objects += plan.extra * n;
        may_move -= plan.extra * n;
        left -= plan.extra;
        if (plan.extra < fills[n])
            break;
    }
    for (uint n = plan.limit; n < slots; n++)
        plan.targets += n == plan.limit ? fills[n] - plan.extra : fills[n];
    plan.after = kma_empty_share(blocks - plan.sources, objects, slots);
    return plan;
}

#endif
