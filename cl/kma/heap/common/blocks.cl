// What all heaps share about blocks: the possible alignments, and clearing and copying contents.
// Contents are cleared and copied in whole units of 16 bytes: a block's last unit belongs to the
// block alone. With KMA_DEBUG 2 or 3 it does not: a red zone begins after the block's last byte.
#ifndef KMA_HEAP_COMMON_BLOCKS_CL
#define KMA_HEAP_COMMON_BLOCKS_CL

#include "kma/platform/bits.cl"
#include "kma/platform/memory.cl"
#include "kma/heap/common/header.cl"

// True if `align` is a power of two up to `most` that divides the heap's own address. Blocks are
// aligned by their offsets: a heap in a buffer aligned to 128 bytes cannot align blocks to 256.
static inline bool kma_can_align(const global void *heap, size_t align, size_t most)
{
    return kma_is_power_of_two(align) && align <= most && ((size_t)heap & (align - 1)) == 0;
}

// Returns the alignment for the copy of a block of `bytes` at `ptr`: the largest power of two that
// divides the addresses of block and heap, up to `bytes` and `most`. It can exceed the alignment
// that was requested, which no block records. Returns 16 for NULL.
static inline size_t kma_kept_align(const global void *heap, const global void *ptr, ulong bytes,
                                    ulong most)
{
    const uint shift =
        min(kma_lowest_bit((ulong)heap | (ulong)ptr | most), kma_highest_bit(bytes | 1));
    return ptr ? (size_t)1 << shift : KMA_UNIT;
}

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
