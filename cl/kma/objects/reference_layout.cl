// What the kernels that follow references note, and how a defragmentation is planned: types and
// arithmetic only, shared with the host library like world_layout.cl.
#ifndef KMA_OBJECTS_REFERENCE_LAYOUT_CL
#define KMA_OBJECTS_REFERENCE_LAYOUT_CL

#include "kma/objects/world_layout.cl"

#define KMA_DEFRAGMENT_ITEMS 256u     // work-items of a work-group, at most
#define KMA_DEFRAGMENT_RUN 32u        // blocks that a work-item numbers: a word of a bit for each
#define KMA_DEFRAGMENT_FILLS 65u      // a block has 0 to 64 objects
#define KMA_DEFRAGMENT_SHARE 1000000u // shares of slots are in millionths
#define KMA_DANGLING_KEPT 10u         // as many as the host tells of

// What shall be reached.
typedef struct kma_defragment_order {
    uint worse;   // nothing happens unless more than this share of slots in blocks is empty
    uint share;   // then at most this share stays empty, or as few slots as can be
    uint objects; // so many move at most
} kma_defragment_order;

// Which blocks of a class are emptied: sources, those with fewer objects than `limit` and `extra`
// of those with as many. Targets are those with room that are none.
typedef struct kma_defragment_plan {
    uint limit, extra;
    uint sources, targets;
    uint objects;       // of all sources
    uint before, after; // the share of slots in blocks that is empty
} kma_defragment_plan;

// One defragmentation, of one class or several. All zero when it begins.
typedef struct kma_defragmentation {
    kma_defragment_plan plan; // of the class at hand
    uint objects, blocks;     // that moved and were freed, of all classes
    uint before, after;       // the largest share of a class
} kma_defragmentation;

// What some blocks have of a class.
typedef struct kma_block_sums {
    uint fewer, fewer_objects; // blocks with fewer objects than the limit, and their objects
    uint equal;                // blocks with as many
    uint more, more_room;      // blocks with more and with room, and their free slots
} kma_block_sums;

#define KMA_BLOCK_SUMS 5u // numbers in it

// A reference to what is no object of the class that its field names.
typedef struct kma_dangling {
    uint holder;  // the object that has it, as a reference; 0: it stands in a root
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
    kma_atomic_u32 dropped;                      // 1 if an object found a queue full
    kma_atomic_u32 kept;                         // objects
    kma_atomic_u32 deleted;
} kma_reach;

// The share of the slots of `blocks` blocks that `objects` objects leave empty.
static inline uint kma_empty_share(ulong blocks, ulong objects, uint slots)
{
    const ulong in_blocks = blocks * slots;
    return in_blocks == 0 ? 0 : (uint)((in_blocks - objects) * KMA_DEFRAGMENT_SHARE / in_blocks);
}

// As few of the fullest blocks remain as reach the share, and have room for the objects of the
// others. `fills[n]` is how many blocks have n objects.
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
