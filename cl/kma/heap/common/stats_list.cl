// A heap's statistics, declared once. The list generates the struct that kernels fill in
// (stats.cl), the host library's kma::HeapStats and its text. A macro only: public headers of the
// host library can include it.
//
//   FIELD(name, what it counts)
#ifndef KMA_HEAP_COMMON_STATS_LIST_CL
#define KMA_HEAP_COMMON_STATS_LIST_CL

#define KMA_HEAP_STATS(FIELD)                                                                      \
    FIELD(bytes, "bytes in the whole buffer")                                                      \
    FIELD(capacity, "bytes of it for blocks")                                                      \
    FIELD(used, "bytes in blocks that are handed out, as rounded up")                              \
    FIELD(blocks, "blocks handed out (0 where the heap does not count them)")                      \
    FIELD(superblock_bytes, "bytes in a superblock (0 in heaps without)")                          \
    FIELD(superblocks, "superblocks")                                                              \
    FIELD(superblocks_free, "superblocks that serve any size")                                     \
    FIELD(superblocks_partial, "superblocks of one size with free blocks")                         \
    FIELD(superblocks_full, "superblocks of one size without")

#endif
