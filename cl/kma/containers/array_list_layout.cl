// An array list in memory, and where in it an object is. Shared with the host library like
// heap/common/header.cl.
#ifndef KMA_CONTAINERS_ARRAY_LIST_LAYOUT_CL
#define KMA_CONTAINERS_ARRAY_LIST_LAYOUT_CL

#ifndef KMA_ARRAY_LIST_PAGE_SHIFT
#define KMA_ARRAY_LIST_PAGE_SHIFT 8u // log2 of the entries of a page, and of the pages
#endif
#define KMA_ARRAY_LIST_ENTRIES    (1u << KMA_ARRAY_LIST_PAGE_SHIFT)
#define KMA_ARRAY_LIST_MOST_SHIFT 30u // log2 of the most objects of a list: `credit` has a sign

typedef struct kma_array_list {
    KMA_PLAIN(uint) object_bytes;
    KMA_PLAIN(uint) align;
    KMA_PLAIN(uint) shift;     // log2 of the objects of the first block
    KMA_PLAIN(uint) doublings; // so often the next block has twice as many; then all have as many
    kma_atomic_u32 growing;  // how many have found too little credit
    kma_atomic_u32 bringing; // turns to bring blocks
    kma_atomic_u32 credit;   // objects that are nobody's; below 0, as a signed number, for moments
    kma_atomic_u32 size;     // objects that are somebody's
    kma_atomic_u32 known;    // blocks that are there, at least
    // refs of those behind `own`, which is the first one: pages[0] is not there
    kma_atomic_u32 pages[KMA_ARRAY_LIST_ENTRIES];
    kma_atomic_u32 own[KMA_ARRAY_LIST_ENTRIES];   // refs of the first blocks
} kma_array_list;

typedef struct kma_array_list_page {
    kma_atomic_u32 entries[KMA_ARRAY_LIST_ENTRIES]; // refs of blocks
} kma_array_list_page;

typedef struct kma_array_list_spot {
    uint block, within;
    uint shift; // log2 of the block's objects
} kma_array_list_spot;

// Objects of the first `doublings` blocks together, each of twice as many as the one before.
static inline uint kma_array_list_doubled(uint shift, uint doublings)
{
    return ((1u << doublings) - 1u) << shift;
}

// Where object `index` is.
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
