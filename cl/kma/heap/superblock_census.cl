// A superblock heap at rest as numbers for the host: written by kernels/superblock_kernels.cl, read by the host
// library's check() and leaks(). Types only, shared like header.cl.
#ifndef KMA_HEAP_SUPERBLOCK_CENSUS_CL
#define KMA_HEAP_SUPERBLOCK_CENSUS_CL

typedef struct kma_sb_census {
    uint credit;  // as in the heap, KMA_SB_KEPT included
    uint content; // as in the heap
    uint taken;   // bits set in the bitmap, below slots
    uint stray;   // bits set beyond
    uint sets;    // the partial sets that it is in, counted; its own class's counts KMA_SB_IN_OWN_SET
} kma_sb_census;

#define KMA_SB_IN_OWN_SET 0x10000u

typedef struct kma_sb_class_census {
    uint superblock; // on offer, or KMA_SB_NONE
    uint drawn;
    uint slots;
    uint partial; // the partial set's own count
} kma_sb_class_census;

// A node of the free queue.
typedef struct kma_queue_census {
    uint next; // or KMA_SB_NONE
    uint item;
    uint carrier;
} kma_queue_census;

#endif
