// What the statistics kernels of all kinds share.
#ifndef KMA_HEAP_COMMON_STATS_SUM_CL
#define KMA_HEAP_COMMON_STATS_SUM_CL

#include "kma/platform/memory.cl"
#include "kma/heap/common/stats.cl"

// Size of the one work-group that counts a heap of many parts.
#define KMA_STATS_WORK_ITEMS 64

// Adds one work-item's counts.
static inline void kma_stats_add(kma_heap_stats *sum, kma_heap_stats part)
{
    sum->used += part.used;
    sum->blocks += part.blocks;
    sum->superblocks_free += part.superblocks_free;
    sum->superblocks_partial += part.superblocks_partial;
    sum->superblocks_full += part.superblocks_full;
}

// Writes the header's numbers: sizes and error counts. Zeros if there is no heap.
static inline void kma_stats_of_header(kma_heap_stats *stats, global kma_heap_header *header,
                                       bool exists)
{
    stats->bytes = exists ? header->bytes : 0;
    stats->capacity = exists ? (ulong)(header->limit - header->begin) * KMA_UNIT : 0;
    for (uint code = 0; code < KMA_ERROR_CODES; code++)
        stats->errors[code] = exists ? kma_load_u32(&header->errors.count[code], KMA_RELAXED) : 0;
}

#endif
