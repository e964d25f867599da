// A superblock heap at rest in numbers for the host: written by heap/superblock/kernels.cl, read by
// the host library's check() and leaks(). Types only, shared like header.cl. The host also reads
// the bits of bitmaps and sets, and the states, in the heap itself: they mean the same on all
// devices.
#ifndef KMA_HEAP_SUPERBLOCK_CENSUS_CL
#define KMA_HEAP_SUPERBLOCK_CENSUS_CL

typedef struct kma_superblock_census {
    uint credit;  // as in the heap, KMA_SUPERBLOCK_KEPT included
    uint content; // as in the heap
    uint taken;   // bits set in the bitmap below `slots`
    uint stray;   // bits set from `slots` on
} kma_superblock_census;

typedef struct kma_superblock_class_census {
    uint superblock; // on offer, or KMA_SUPERBLOCK_NONE
    uint drawn;
    uint slots;
    uint partial; // the partial set's own count
    uint helpers;
} kma_superblock_class_census;

// A node of the free queue. The last entry of a census has {head, tail, capacity} instead.
typedef struct kma_queue_census {
    uint next; // or KMA_SUPERBLOCK_NONE
    uint item;
    uint carrier;
} kma_queue_census;

#endif
