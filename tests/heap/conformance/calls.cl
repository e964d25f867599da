// The calls besides malloc, one result each.
#include "kma/kma.cl"
#include "pattern.cl"

// dirty[me]: bytes of the block that are not 0.
kernel void call_calloc(global kma_heap *heap, global const ulong *counts, global const ulong *sizes,
                        global kma_ref *refs, global uint *dirty)
{
    const uint me = (uint)get_global_id(0);
    const global uchar *block = (const global uchar *)kma_calloc(heap, counts[me], sizes[me]);
    uint n = 0;
    if (block)
        for (ulong i = 0; i < counts[me] * sizes[me]; i++)
            n += block[i] != 0 ? 1 : 0;
    refs[me] = kma_ref_of(heap, (global void *)block);
    dirty[me] = n;
}

kernel void call_aligned_alloc(global kma_heap *heap, global const ulong *aligns, global const ulong *sizes,
                               global kma_ref *refs, global ulong *addresses)
{
    const uint me = (uint)get_global_id(0);
    global uchar *block = (global uchar *)kma_aligned_alloc(heap, aligns[me], sizes[me]);
    refs[me] = kma_ref_of(heap, block);
    addresses[me] = (ulong)block;
    if (block)
        paint(block, sizes[me], me);
}

// A block of old_sizes[me] at a multiple of aligns[me], painted, is given sizes[me]. wrong[me]: bytes lost of those that
// both sizes cover. The new bytes are painted too.
kernel void call_realloc(global kma_heap *heap, global const ulong *aligns, global const ulong *old_sizes,
                         global const ulong *sizes, global kma_ref *refs, global uint *wrong, uint is_sized)
{
    const uint me = (uint)get_global_id(0);
    global uchar *block = (global uchar *)kma_aligned_alloc(heap, aligns[me], old_sizes[me]);
    if (block)
        paint(block, old_sizes[me], me);
    if (is_sized)
        block = (global uchar *)kma_realloc_sized(heap, block, old_sizes[me], sizes[me]);
#ifdef KMA_KNOWS_BLOCKS
    else
        block = (global uchar *)kma_realloc(heap, block, sizes[me]);
#endif
    wrong[me] = block ? count_wrong(block, min(old_sizes[me], sizes[me]), me) : 0;
    refs[me] = kma_ref_of(heap, block);
    if (block)
        paint(block, sizes[me], me);
}

// What the heap says that the block may use; all of it must be the caller's, so it is painted whole.
#ifdef KMA_KNOWS_BLOCKS
kernel void call_usable_size(global kma_heap *heap, global const ulong *sizes, global kma_ref *refs, global ulong *usable)
{
    const uint me = (uint)get_global_id(0);
    global uchar *block = (global uchar *)kma_malloc(heap, sizes[me]);
    refs[me] = kma_ref_of(heap, block);
    usable[me] = kma_usable_size(heap, block);
    if (block)
        paint(block, usable[me], me);
}
#endif

// KMA_NEW of types that need more than malloc's 16 bytes, and C's names for kma's functions.
#ifdef KMA_STD_NAMES
kernel void names(global kma_heap *heap, global uint *refs, global uint *right)
{
    const uint me = (uint)get_global_id(0);
    global float16 *wide = KMA_NEW(heap, float16);
    global long4 *four = KMA_NEW(heap, long4);
    global uint *one = (global uint *)malloc(heap, 2 * sizeof(uint));
    global uint *zeros = (global uint *)calloc(heap, 10, sizeof(uint));
    global void *aligned = aligned_alloc(heap, 128, 40);
    refs[3 * me] = kma_ref_of(heap, wide);
    refs[3 * me + 1] = kma_ref_of(heap, four);
    refs[3 * me + 2] = kma_ref_of(heap, aligned);
    if (!wide || !four || !one || !zeros || !aligned)
        return;
    *wide = (float16)((float)me);
    *four = (long4)(me);
    one[0] = me;
    one[1] = 2;
    right[me] = (*wide).sf == (float)me && (*four).w == me && zeros[0] == 0 && zeros[9] == 0 ? 1 : 0;
#ifdef KMA_KNOWS_BLOCKS
    one = (global uint *)realloc(heap, one, 100 * sizeof(uint));
#endif
    right[me] += one && one[0] == me && one[1] == 2 ? 1 : 0;
    free(heap, wide);
    free(heap, four);
    free(heap, one);
    free(heap, zeros);
    free(heap, aligned);
}
#endif
