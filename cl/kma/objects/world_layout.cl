// A world in memory: types and arithmetic only, shared with the host library like
// heap/common/header.cl.
//
//   | kma_world | classes | hints | blocks … | states       | trees: free, | lists of blocks, |
//   |           |         |       |          | one for each | active[cls]  | of free slots,   |
//   |           |         |       |          | block        |              | for each class   |
//     sizes from the schema alone   sizes from the number of blocks
//
// A field's address does not depend on the number of blocks: a program serves worlds of any size.
#ifndef KMA_OBJECTS_WORLD_LAYOUT_CL
#define KMA_OBJECTS_WORLD_LAYOUT_CL

#include "kma/heap/common/header.cl"
#include "kma/lockfree/bit_tree_layout.cl"

#define KMA_KIND_WORLD          5u          // in the header's `kind`
#define KMA_WORLD_BLOCKS_MOST   (1u << 25)  // the number of a slot then has 31 bits
#define KMA_WORLD_ALIGN         128u        // of a block
#define KMA_WORLD_CLASSES_MOST  64u
#define KMA_WORLD_OPEN          4u // free slots in a class's list, for each block of the world
#ifndef KMA_WORLD_HINTS
// words for each class, a power of two; only this value agrees with the host library
#define KMA_WORLD_HINTS         16384u
#endif

// A reference to an object: (block + 1) << 6 | slot. Without 64-bit atomics a block has 32 slots at
// most; references have the same form.
#define KMA_WORLD_SLOT_SHIFT 6u
#define KMA_WORLD_SLOT_MASK  63u

// The metadata of one block. At rest: state is all ones if type is 0; else it has the bits of
// objects and of slots that the class does not have. (Where words have 32 bits, the upper halves
// are 0.)
typedef struct kma_world_block {
#if KMA_HAS_ATOMIC64
    kma_atomic_u64 state;
    ulong iterated; // the objects at the last enumeration of the class
#else
    kma_atomic_u32 state;
    uint state_above;
    uint iterated;
    uint iterated_above;
#endif
    kma_atomic_u32 type; // 1 + the number of the class; 0: the block is free, or about to be
    uint pad[3];
} kma_world_block;

// The metadata of one class.
typedef struct kma_world_class {
    // blocks in its list: one of the two counts; the next enumeration uses the other
    kma_atomic_u32 listed[2];
    uint turn;                // the one in use
    // free slots in its list, two counts likewise; more than the list holds if there were more
    kma_atomic_u32 open[2];
    uint pad[27];             // a cache line for what kernels only read, one for what they change
    kma_atomic_u32 next[2];   // free slots of the list that were taken, two counts likewise
    kma_atomic_u32 roomy[2];  // blocks with free slots, less those then, about; two likewise
    uint pad_behind[28];
} kma_world_class;

typedef struct kma_world {
    kma_heap_header head; // kind KMA_KIND_WORLD; begin and limit are 0
    ulong states;         // this and the next three: offsets in bytes
    ulong trees;
    ulong lists;
    ulong open;
    uint blocks;
    uint tree_words;      // of one tree
    uint classes;
    uint block_bytes;
    uint pad[10];
    // work-items that search all blocks, or have failed since the last enumeration; in a cache line
    // of its own
    kma_atomic_u32 searching;
    uint pad_behind[31];
    // with KMA_DEBUG: a field of an invalid reference; as long as the longest field, a vector of
    // 128 bytes
    uint nowhere[32];
} kma_world;

static inline ulong kma_world_up(ulong bytes)
{
    return (bytes + KMA_WORLD_ALIGN - 1) / KMA_WORLD_ALIGN * KMA_WORLD_ALIGN;
}

// Where blocks begin.
#define KMA_WORLD_BEGIN(classes)                                                                   \
    ((sizeof(kma_world) +                                                                          \
      (classes) * (sizeof(kma_world_class) + KMA_WORLD_HINTS * sizeof(kma_atomic_u32)) +           \
      KMA_WORLD_ALIGN - 1) /                                                                       \
     KMA_WORLD_ALIGN * KMA_WORLD_ALIGN)

// Bytes of one class's list of blocks, each a uint.
static inline ulong kma_world_list_bytes(uint blocks)
{
    return kma_world_up(4ul * blocks);
}

// The most free slots that one class's list has.
static inline uint kma_world_open_most(uint blocks)
{
    return KMA_WORLD_OPEN * blocks;
}

// Where the parts after the blocks begin, and where the world ends.
typedef struct kma_world_plan {
    ulong states, trees, lists, open, end;
    uint tree_words;
} kma_world_plan;

static inline kma_world_plan kma_world_plan_of(uint classes, uint block_bytes, uint blocks)
{
    kma_world_plan plan;
    plan.tree_words =
        (uint)(kma_world_up(sizeof(kma_atomic_u32) * (ulong)kma_bit_tree_words(blocks)) /
               sizeof(kma_atomic_u32));
    plan.states = KMA_WORLD_BEGIN(classes) + (ulong)block_bytes * blocks;
    plan.trees = plan.states + (ulong)sizeof(kma_world_block) * blocks;
    plan.trees = kma_world_up(plan.trees);
    plan.lists = plan.trees + sizeof(kma_atomic_u32) * (ulong)plan.tree_words * (classes + 1);
    plan.open = plan.lists + kma_world_list_bytes(blocks) * classes;
    plan.end = plan.open + kma_world_list_bytes(kma_world_open_most(blocks)) * classes;
    return plan;
}

#endif
