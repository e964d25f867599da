// What all heaps do to the contents of blocks. In whole units of 16 bytes: a block's last unit is wholly its own. With
// KMA_DEBUG 2 it is not: a red zone begins behind the last byte.
#ifndef KMA_HEAP_BLOCKS_CL
#define KMA_HEAP_BLOCKS_CL

#include "kma/platform/memory.cl"
#include "kma/heap/header.cl"

static inline ulong kma_units_to_move(ulong bytes)
{
    return KMA_DEBUG >= 2 ? bytes / KMA_UNIT : kma_whole_units(bytes);
}

static inline void kma_zero_block(global void *block, ulong bytes)
{
    for (ulong i = 0; i < kma_units_to_move(bytes); i++)
        ((global uint4 *)block)[i] = (uint4)(0u);
#if KMA_DEBUG >= 2
    for (ulong i = bytes / KMA_UNIT * KMA_UNIT; i < bytes; i++)
        ((global uchar *)block)[i] = 0;
#endif
}

static inline void kma_copy_block(global void *to, global void *from, ulong bytes)
{
    for (ulong i = 0; i < kma_units_to_move(bytes); i++)
        ((global uint4 *)to)[i] = ((global uint4 *)from)[i];
#if KMA_DEBUG >= 2
    for (ulong i = bytes / KMA_UNIT * KMA_UNIT; i < bytes; i++)
        ((global uchar *)to)[i] = ((global uchar *)from)[i];
#endif
}

#endif
