// An array list's memory layout, and the place of an object in it. Shared with the host library, as
// heap/common/header.cl is.
#ifndef KMA_CONTAINERS_ARRAY_LIST_LAYOUT_CL
#define KMA_CONTAINERS_ARRAY_LIST_LAYOUT_CL

#ifndef KMA_ARRAY_LIST_PAGE_SHIFT
#define KMA_ARRAY_LIST_PAGE_SHIFT 8u // log2 of the entries of a page, and of the number of pages
#endif
#define KMA_ARRAY_LIST_ENTRIES    (1u << KMA_ARRAY_LIST_PAGE_SHIFT)
#define KMA_ARRAY_LIST_MOST_SHIFT 30u // log2 of the most objects: `credit` is signed

typedef struct kma_array_list {
    KMA_PLAIN(uint) object_bytes;
    KMA_PLAIN(uint) align;
    KMA_PLAIN(uint) shift;     // log2 of the objects of the first block
    KMA_PLAIN(uint) doublings; // block k has 2^(shift + min(k, doublings)) objects
    kma_atomic_u32 growing;  // lanes that found too little credit
    kma_atomic_u32 bringing; // turns to append blocks (lockfree/turn.cl)
    kma_atomic_u32 credit;   // objects without an owner; signed, for moments below 0
    kma_atomic_u32 size;     // objects with an index
    kma_atomic_u32 known;    // lower bound of the number of blocks
    // refs of pages; `own` takes the place of page 0, and pages[0] stays KMA_NULL
    kma_atomic_u32 pages[KMA_ARRAY_LIST_ENTRIES];
    kma_atomic_u32 own[KMA_ARRAY_LIST_ENTRIES];   // refs of the first 256 blocks
} kma_array_list;

typedef struct kma_array_list_page {
    kma_atomic_u32 entries[KMA_ARRAY_LIST_ENTRIES]; // refs of blocks
} kma_array_list_page;

typedef struct kma_array_list_spot {
    uint block, within;
    uint shift; // log2 of the block's objects
} kma_array_list_spot;

// Returns the objects of the first `doublings` blocks, each twice as long as the one before.
static inline uint kma_array_list_doubled(uint shift, uint doublings)
{
    return ((1u << doublings) - 1u) << shift;
}

// Returns the block of object `index`, and the object's number in it.
static inline kma_array_list_spot kma_array_list_find(uint shift, uint doublings, uint index)
{
    const uint level = min(kma_highest_bit((index >> shift) + 1), doublings);
    const uint rest = index - kma_array_list_doubled(shift, level);
    kma_array_list_spot spot;
    spot.shift = shift + level;
    spot.block = level + (rest >> spot.shift);
    spot.within = rest & ((1u << spot.shift) - 1u);
    return spot;
}

#endif
