// The superblock heap in memory. Types and sizes only, shared with the host library like header.cl.
// The including side also provides KMA_HAS_ATOMIC64, kma_highest_bit and, if there are 64-bit
// atomics, kma_atomic_u64.
//
//   0                                                                       begin           limit
//   | kma_superblock | states | partial sets | free queue | bitmaps   | pad | superblock 0 | … |
//   | classes[64]    | 16 B   | 1 bit per    | 16 B       | 1 bit per | to  | blocks of one    |
//   | of 128 B       | each   | class and    | each       | 16 B of   | 4   | class each       |
//   |                |        | superblock   |            | blocks    | KiB |                  |
//
// All metadata lie before `begin`; superblocks hold blocks only. Metadata of a superblock of s
// bytes: s / 128 + 40 bytes, which is 1.8 % of 4 KiB, and 0.8 % from 64 KiB on. With KMA_DEBUG 2
// and 3 there is a kma_guard between queue and bitmaps.
//
// In the heap's code, `sb` is the number of a superblock.
#ifndef KMA_HEAP_SUPERBLOCK_LAYOUT_CL
#define KMA_HEAP_SUPERBLOCK_LAYOUT_CL

#include "kma/heap/common/guard_layout.cl"
#include "kma/heap/common/header.cl"
#include "kma/heap/common/size_class.cl"
#include "kma/lockfree/bitmap_layout.cl"

#define KMA_SUPERBLOCK_NONE 0xffffffffu // no superblock

// A superblock has 2^shift units: 4 KiB to 2 MiB. (The tests in tests/host use less.)
#define KMA_SUPERBLOCK_MIN_SHIFT 8u
#define KMA_SUPERBLOCK_MAX_SHIFT 17u
// shift of a heap without superblocks: 16 << 60 is 0 bytes, less than any request
#define KMA_SUPERBLOCK_EMPTY_SHIFT 60u

// The alignment of superblock 0, and the largest that this heap supports.
#ifndef KMA_SUPERBLOCK_ALIGN
#define KMA_SUPERBLOCK_ALIGN 4096u
#endif

// At least the bytes of a kma_queue, and of each of its nodes; the tests' host shim needs more.
#ifndef KMA_SUPERBLOCK_QUEUE_BYTES
#define KMA_SUPERBLOCK_QUEUE_BYTES 384u
#define KMA_SUPERBLOCK_NODE_BYTES 16u
#endif

// An offer, in one word: {superblock, how many of its blocks are no longer on offer}. malloc takes
// blocks from it (superblock/offer.cl). With 64-bit atomics the superblock is the upper half; else
// it is the bits above bit `shift` of 32.
#if KMA_HAS_ATOMIC64
typedef ulong kma_superblock_offer_word;
typedef kma_atomic_u64 kma_superblock_offer_atomic;
#else
typedef uint kma_superblock_offer_word;
typedef kma_atomic_u32 kma_superblock_offer_atomic;
#endif

// State of one size class. All lanes that allocate from it write the offer: each class has 128
// bytes of its own.
typedef struct kma_superblock_class {
    kma_superblock_offer_atomic offer;
    uchar pad_offer[64 - sizeof(kma_superblock_offer_atomic)];
    kma_bitmap partial; // superblocks of this class with free blocks that are not on offer
    uint slots;         // blocks of this class in one superblock; constant
    kma_atomic_u32 helpers; // lanes that renew the offer without being elected
    uint pad[12];
} kma_superblock_class;

// State of one superblock.
typedef struct kma_superblock_state {
    kma_atomic_u32 credit;  // free blocks that are not on offer, and KMA_SUPERBLOCK_KEPT
    // the class of its blocks, or KMA_SUPERBLOCK_UNUSED; with KMA_SUPERBLOCK_FREE while it is in
    // the queue
    kma_atomic_u32 content;
    kma_atomic_u32 offered; // blocks of the last offer; a hint where free ones are
    kma_atomic_u32 found;   // bitmap word where a block was found last; a hint
} kma_superblock_state;

// in `credit`: on offer, in a partial set, in the queue, or in hand of a lane
#define KMA_SUPERBLOCK_KEPT 0x80000000u
#define KMA_SUPERBLOCK_FREE 0x100u      // in `content`
#define KMA_SUPERBLOCK_UNUSED 0x1ffu    // in `content`: free, and never had a class

// In `moves`: the lower half counts superblocks in hand, the upper half those put down so far. Both
// wrap; a malloc may then report too early that it is out of memory.
#define KMA_SUPERBLOCK_IN_HAND(moves) ((moves) & 0xffffu)
#define KMA_SUPERBLOCK_PUT_DOWN 0x10000u

// Positions and counts. Constant after the initialisation, except that growth changes `superblocks`
// and `limit`. States, sets, queue and bitmaps are sized for all superblocks that there can ever
// be: growth moves nothing.
typedef struct kma_superblock_plan {
    uint superblocks;
    uint shift;        // log2 of the units of a superblock
    uint size_classes; // those that fit into a superblock
    uint set_words;    // of each partial set
    uint bitmap_words; // of each superblock's bitmap
    uint states;       // this and the rest: units from the heap's start
    uint sets;
    uint queue;
    uint bitmaps;
    uint begin; // of superblock 0
    uint limit; // unit after the last superblock
    uint guard; // of the kma_guard; 0 if there is none
    uint room;  // superblocks that the metadata are sized for
} kma_superblock_plan;

#if KMA_DEBUG
#define kma_superblock KMA_FLAVOUR_OF(kma_superblock)
#endif
typedef struct kma_superblock {
    kma_heap_header header;
    kma_superblock_plan plan;
    kma_atomic_u32 moves; // see kma_superblock_pick_up
    uint pad[8];
    kma_superblock_class classes[KMA_CLASSES];
} kma_superblock;

// Returns the most superblocks of 2^shift units that offers and queue can number. Without 64-bit
// atomics the queue has 16 bits for them, and an offer needs shift + 1 bits to count blocks.
static inline uint kma_superblock_most(uint shift, bool atomic64)
{
    const uint most = 0xffffffffu >> (shift + 1);
    if (atomic64)
        return 0xfffffffeu;
    return most - 1 < 65534u ? most - 1 : 65534u;
}

// Returns the plan of a heap with `superblocks`, whatever size it has; the fields in units wrap
// beyond 64 GiB. `*end` is the exact number of units.
static inline kma_superblock_plan kma_superblock_plan_of(uint superblocks, uint shift, uint debug,
                                                         ulong *end)
{
    kma_superblock_plan plan;
    plan.superblocks = superblocks;
    plan.room = superblocks;
    plan.shift = shift;
    plan.size_classes = kma_class_of(1u << shift) + 1;
    plan.set_words = kma_bitmap_words(superblocks);
    plan.bitmap_words = kma_bitmap_words(1u << shift);
    const ulong states = kma_whole_units(sizeof(kma_superblock));
    const ulong sets = states + kma_whole_units((ulong)superblocks * sizeof(kma_superblock_state));
    const ulong queue =
        sets + kma_whole_units((ulong)plan.size_classes * plan.set_words * sizeof(kma_atomic_u32));
    const ulong guard =
        queue + kma_whole_units(KMA_SUPERBLOCK_QUEUE_BYTES +
                                ((ulong)superblocks + 1) * KMA_SUPERBLOCK_NODE_BYTES);
    const ulong bitmaps = guard + kma_guard_room(debug);
    const ulong behind =
        bitmaps + kma_whole_units((ulong)superblocks * plan.bitmap_words * sizeof(kma_atomic_u32));
    const ulong begin = (behind + KMA_SUPERBLOCK_ALIGN / KMA_UNIT - 1) /
                        (KMA_SUPERBLOCK_ALIGN / KMA_UNIT) * (KMA_SUPERBLOCK_ALIGN / KMA_UNIT);
    *end = begin + ((ulong)superblocks << shift);
    plan.states = (uint)states;
    plan.sets = (uint)sets;
    plan.queue = (uint)queue;
    plan.guard = debug >= 2 ? (uint)guard : 0;
    plan.bitmaps = (uint)bitmaps;
    plan.begin = (uint)begin;
    plan.limit = (uint)*end;
    return plan;
}

// Returns the plan with the most superblocks that fit into `bytes`, up to kma_superblock_most. It
// has 0 superblocks if none fits.
static inline kma_superblock_plan kma_superblock_plan_for(ulong bytes, uint shift, uint debug,
                                                          bool atomic64)
{
    // refs reach no further
    const ulong units = min(bytes / KMA_UNIT, (ulong)0xffffffffu);
    uint superblocks = 0; // this many fit
    // this many do not fit, or are not allowed
    uint beyond = (uint)min(units >> shift, (ulong)kma_superblock_most(shift, atomic64)) + 1;
    ulong end;
    kma_superblock_plan plan = kma_superblock_plan_of(superblocks, shift, debug, &end);
    while (beyond - superblocks > 1) { // at most 32 steps
        const uint middle = superblocks + (beyond - superblocks) / 2;
        const kma_superblock_plan larger = kma_superblock_plan_of(middle, shift, debug, &end);
        if (end > units) {
            beyond = middle;
        } else {
            superblocks = middle;
            plan = larger;
        }
    }
    return plan;
}

// Returns the plan with only those of its superblocks that a heap of `bytes` has.
static inline kma_superblock_plan kma_superblock_plan_within(kma_superblock_plan plan, ulong bytes)
{
    const ulong units = bytes / KMA_UNIT;
    const ulong fit = units > plan.begin ? (units - plan.begin) >> plan.shift : 0;
    plan.superblocks = (uint)min(fit, (ulong)plan.room);
    plan.limit = plan.begin + (plan.superblocks << plan.shift);
    return plan;
}

// Returns the plan of a heap that has `bytes` and can grow to `max_bytes`.
static inline kma_superblock_plan kma_superblock_plan_growing(ulong bytes, ulong max_bytes,
                                                              uint shift, uint debug, bool atomic64)
{
    return kma_superblock_plan_within(
        kma_superblock_plan_for(max(bytes, max_bytes), shift, debug, atomic64), bytes);
}

#endif
