// An array list in memory. Types and sizes only, shared with the host library like heap/header.cl.
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
    KMA_PLAIN(uint) shift; // log2 of the objects of a block
    kma_atomic_u32 growing; // how many are about to bring blocks
    kma_atomic_u32 credit;  // objects that are nobody's; below 0, as a signed number, for moments
    kma_atomic_u32 size;    // objects that are somebody's
    kma_atomic_u32 known;   // blocks that are there, at least
    kma_atomic_u32 pad;
    kma_atomic_u32 pages[KMA_ARRAY_LIST_ENTRIES]; // refs
} kma_array_list;

typedef struct kma_array_list_page {
    kma_atomic_u32 entries[KMA_ARRAY_LIST_ENTRIES]; // refs of blocks
} kma_array_list_page;

#endif
