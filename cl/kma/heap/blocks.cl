// What all heaps do to the contents of blocks. In whole units of 16 bytes: a block's last unit is wholly its own.
#ifndef KMA_HEAP_BLOCKS_CL
#define KMA_HEAP_BLOCKS_CL

#include "kma/platform/memory.cl"
#include "kma/heap/header.cl"

static inline void kma_zero_block(global void *block, ulong bytes)
{
    for (ulong i = 0; i < kma_whole_units(bytes); i++)
        ((global uint4 *)block)[i] = (uint4)(0u);
}

static inline void kma_copy_block(global void *to, global void *from, ulong bytes)
{
    for (ulong i = 0; i < kma_whole_units(bytes); i++)
        ((global uint4 *)to)[i] = ((global uint4 *)from)[i];
}

#endif
