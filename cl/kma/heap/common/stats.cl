// A heap's statistics as its kernels write them. Types only, shared with the host library like
// header.cl. All values are those of a heap at rest.
#ifndef KMA_HEAP_COMMON_STATS_CL
#define KMA_HEAP_COMMON_STATS_CL

#include "kma/heap/common/header.cl"
#include "kma/heap/common/stats_list.cl"

#define KMA_HEAP_STATS_MEMBER(name, meaning) ulong name;
typedef struct kma_heap_stats {
    KMA_HEAP_STATS(KMA_HEAP_STATS_MEMBER)
    ulong errors[KMA_ERROR_CODES]; // count of each error, up to about 2^31
} kma_heap_stats;

#endif
