// What a heap tells of itself, declared once: the list makes the struct that kernels fill in and, on the host, the
// text. Types only, shared with the host library like header.cl; all numbers are those of a heap at rest.
//
//   FIELD(name, what it counts)
#ifndef KMA_HEAP_STATS_CL
#define KMA_HEAP_STATS_CL

#include "kma/heap/header.cl"

#define KMA_HEAP_STATS(FIELD)                                                                                          \
    FIELD(bytes, "bytes in the whole buffer")                                                                          \
    FIELD(capacity, "bytes of it for blocks")                                                                          \
    FIELD(used, "bytes in blocks that are handed out, as rounded up")                                                  \
    FIELD(blocks, "blocks handed out (0 where the heap does not count them)")                                          \
    FIELD(superblock_bytes, "bytes in a superblock (0 in heaps without)")                                              \
    FIELD(superblocks, "superblocks")                                                                                  \
    FIELD(superblocks_free, "superblocks that serve any size")                                                         \
    FIELD(superblocks_partial, "superblocks of one size with free blocks")                                             \
    FIELD(superblocks_full, "superblocks of one size without")

#define KMA_HEAP_STATS_MEMBER(name, meaning) ulong name;
typedef struct kma_heap_stats {
    KMA_HEAP_STATS(KMA_HEAP_STATS_MEMBER)
    ulong errors[KMA_ERROR_CODES]; // how often each error happened, up to about 2^31
} kma_heap_stats;

#endif
