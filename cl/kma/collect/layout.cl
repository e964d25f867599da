// A collector's data. Types, numbers and arithmetic only, shared with the host library.
//
// In the heap it has one block; the heap's header has its ref:
//
//   | kma_collector | type table: 1 byte for each unit | mark words: 1 bit for each unit |
//
// Both tables cover all units that the heap may ever have, and take 7.03 % of it. A unit's byte
// says what begins there:
//
//   0            no typed object
//   1 … 127      an object of the type with this number
//   128 + n      the elements of an array of type n. Their number is in the last word before
//                them; the block starts one unit before them.
//
// A mark bit is set only during a collection: the object that begins at the unit was reached.
//
// Outside the heap, in buffers of their own: a kma_type for each type, a kma_reference for each
// reference in one, the queues of kma_mark_item, and a kma_collection.
#ifndef KMA_COLLECT_LAYOUT_CL
#define KMA_COLLECT_LAYOUT_CL

#include "kma/heap/common/header.cl"

#define KMA_TYPES_MOST 127u
#define KMA_TYPE_ARRAY 128u // added to a type's number in the type table

typedef struct kma_collector {
    uint types; // hash of the types that the collector was made for
    uint units; // units that the tables cover: a multiple of 128
    uint table; // ref of the type table
    uint marks; // ref of the mark words
} kma_collector;

typedef struct kma_type {
    uint bytes;      // of an object, and of each element of an array
    uint references; // in an object
    uint first;      // its first one in the table of all references
} kma_type;

typedef struct kma_reference {
    uint offset; // from the object's start
    uint target; // number of the type that it may lead to; 0: any
} kma_reference;

// ------ the queues -------------------------------------------------------------------------------

// An item to visit: an object, or a part of an array. Parts of level l = part >> 27 have 64 * 32^l
// elements each; part % 2^27 is the number among them.
typedef struct kma_mark_item {
    uint ref;
    uint part;
} kma_mark_item;

#define KMA_MARK_LEAF_SHIFT 6u
#define KMA_MARK_FANOUT_SHIFT 5u
#define KMA_MARK_LEVEL_SHIFT 27u

static inline uint kma_mark_level_shift(uint level)
{
    return KMA_MARK_LEAF_SHIFT + KMA_MARK_FANOUT_SHIFT * level;
}

// Returns the part that covers all of an array.
static inline uint kma_mark_whole(uint length)
{
    uint level = 0;
    while ((ulong)length > 1ul << kma_mark_level_shift(level)) // six times at most
        level++;
    return level << KMA_MARK_LEVEL_SHIFT;
}

#define KMA_LIST_TILE_SHIFT 8u // log2 of the units of a tile, which has one splitter (lists.cl)

// ------ a collection -----------------------------------------------------------------------------

#define KMA_MARK_ROUNDS 16u // enqueued at once
#define KMA_DAMAGED_KEPT 8u
#define KMA_DAMAGED_LENGTH 0xffffffffu // as offset: `reference` is the array's number of elements
#define KMA_DAMAGED_TYPE 0xfffffffeu   // as offset: `reference` is the type table's byte

typedef struct kma_damaged_reference {
    uint object;    // ref of the object that it is in; 0: a root
    uint offset;    // bytes from the object's start, modulo 2^32; of a root its index
    uint reference; // what it is
    uint written;   // 0 until the record is complete; then 1, of a root 1 + its buffer's number
} kma_damaged_reference;

// All zero when a collection begins, but for the shifts.
typedef struct kma_collection {
    kma_atomic_u32 counts[KMA_MARK_ROUNDS + 1]; // of items in each round's queue
    kma_atomic_u32 dropped;                     // 1 if a full queue dropped an item
    kma_atomic_u32 marked;                      // objects
    kma_atomic_u32 marked_units;
    kma_atomic_u32 freed; // objects
    kma_atomic_u32 freed_units;
    kma_atomic_u32 damaged; // references
    uint region_shift;      // log2 of the units of a region
    uint zone_shift;        // log2 of the regions of a zone
    uint pad;
    kma_damaged_reference first[KMA_DAMAGED_KEPT];
} kma_collection;

// ------ a compaction (compact.cl) ----------------------------------------------------------------

// The content of 64 bytes, for pictures.
#define KMA_PIECE_OBJECT 1u
#define KMA_PIECE_BLOCK 2u // of memory without a type

// The content of a region. A slab belongs to the region that it begins in.
typedef struct kma_region {
    kma_atomic_u32 units;   // of slots that are taken
    kma_atomic_u32 holes;   // units of free slots
    kma_atomic_u32 open;    // units of frames that are wholly free
    kma_atomic_u32 fixed;   // blocks that cannot move
    kma_atomic_u32 entered; // 1 if a slab of an earlier region ends here
} kma_region;

// All zero when objects begin to move.
#define KMA_COMPACT_CLASSES 64u // of size, or more than there are
typedef struct kma_compaction {
    kma_atomic_u32 wanted[KMA_COMPACT_CLASSES]; // taken slots in sources, as many as fit the list
    kma_atomic_u32 listed[KMA_COMPACT_CLASSES]; // free slots of targets that were found
    kma_atomic_u32 taken[KMA_COMPACT_CLASSES];  // objects that requested one
    uint first[KMA_COMPACT_CLASSES];            // the class's first entry in the list
    kma_atomic_u32 moved_objects;
    kma_atomic_u32 moved_units;
    kma_atomic_u32 rewritten;  // regions
    kma_atomic_u32 next_frame; // frames below were tried for new pages
} kma_compaction;

#endif
