// The bump heap's other calls, one by one.
#define KMA_HEAP bump
#include "kma/kma.cl"

// dirty: bytes of the block that are not 0.
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

// Fills all that it can get.
kernel void soil(global kma_heap *heap, ulong bytes)
{
    global uchar *block = (global uchar *)kma_malloc(heap, bytes);
    if (block)
        for (ulong i = 0; i < bytes; i++)
            block[i] = 0xff;
}

kernel void call_aligned_alloc(global kma_heap *heap, global const ulong *aligns, global const ulong *sizes,
                               global kma_ref *refs, global ulong *pointers)
{
    const uint me = (uint)get_global_id(0);
    global uchar *block = (global uchar *)kma_aligned_alloc(heap, aligns[me], sizes[me]);
    refs[me] = kma_ref_of(heap, block);
    pointers[me] = (ulong)block;
    if (block) {
        block[0] = 1;
        block[sizes[me] - 1] = 1;
    }
}

// A block of old_sizes[me], painted, then given sizes[me]; wrong: bytes lost of those that both sizes cover.
kernel void call_realloc_sized(global kma_heap *heap, global const ulong *old_sizes, global const ulong *sizes,
                               global kma_ref *old_refs, global kma_ref *refs, global uint *wrong)
{
    const uint me = (uint)get_global_id(0);
    global uchar *block = (global uchar *)kma_malloc(heap, old_sizes[me]);
    if (block)
        for (ulong i = 0; i < old_sizes[me]; i++)
            block[i] = (uchar)(me + i);
    global uchar *moved = (global uchar *)kma_realloc_sized(heap, block, old_sizes[me], sizes[me]);
    uint n = 0;
    if (moved)
        for (ulong i = 0; i < min(old_sizes[me], sizes[me]); i++)
            n += moved[i] != (uchar)(me + i) ? 1 : 0;
    old_refs[me] = kma_ref_of(heap, block);
    refs[me] = kma_ref_of(heap, moved);
    wrong[me] = n;
}

kernel void do_nothing_calls(global kma_heap *heap, global uint *results)
{
    results[0] = kma_malloc(heap, 0) == (global void *)0 ? 1 : 0;
    results[1] = kma_calloc(heap, 0, 8) == (global void *)0 ? 1 : 0;
    results[2] = kma_calloc(heap, 8, 0) == (global void *)0 ? 1 : 0;
    results[3] = kma_aligned_alloc(heap, 64, 0) == (global void *)0 ? 1 : 0;
    // More than the heap has, but no bytes are no bytes.
    results[4] = kma_aligned_alloc(heap, 0x40000000, 0) == (global void *)0 ? 1 : 0;
    results[5] = kma_realloc_sized(heap, (global void *)0, 0, 0) == (global void *)0 ? 1 : 0;
    kma_free(heap, (global void *)0);
}

// Types that need more than the 16 bytes of malloc; refs of their blocks, or 0.
kernel void new_wide(global kma_heap *heap, global uint *refs, global float *values)
{
    const size_t me = get_global_id(0);
    global float16 *wide = KMA_NEW(heap, float16);
    global long4 *four = KMA_NEW(heap, long4);
    refs[2 * me] = kma_ref_of(heap, wide);
    refs[2 * me + 1] = kma_ref_of(heap, four);
    if (!wide || !four)
        return;
    *wide = (float16)((float)me);
    *four = (long4)(me);
    values[me] = (*wide).sf + (float)(*four).w;
}
