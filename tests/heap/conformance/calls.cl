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

// realloc in three steps: a block of old_bytes at a multiple of `align`, painted; the call; and then wrong[me]: bytes lost
// of those that both sizes cover. The new bytes are painted too.
static inline global uchar *painted(global kma_heap *heap, ulong align, ulong old_bytes, uint me)
{
    global uchar *block = (global uchar *)kma_aligned_alloc(heap, align, old_bytes);
    if (block)
        paint(block, old_bytes, me);
    return block;
}

static inline void look_over(global kma_heap *heap, global uchar *moved, ulong old_bytes, ulong bytes, uint me,
                             global kma_ref *refs, global uint *wrong)
{
    wrong[me] = moved ? count_wrong(moved, min(old_bytes, bytes), me) : 0;
    refs[me] = kma_ref_of(heap, moved);
    if (moved)
        paint(moved, bytes, me);
}

kernel void call_realloc_sized(global kma_heap *heap, global const ulong *aligns, global const ulong *old_sizes,
                               global const ulong *sizes, global kma_ref *refs, global uint *wrong)
{
    const uint me = (uint)get_global_id(0);
    global uchar *block = painted(heap, aligns[me], old_sizes[me], me);
    block = (global uchar *)kma_realloc_sized(heap, block, old_sizes[me], sizes[me]);
    look_over(heap, block, old_sizes[me], sizes[me], me, refs, wrong);
}

#ifdef KMA_KNOWS_BLOCKS
kernel void call_realloc(global kma_heap *heap, global const ulong *aligns, global const ulong *old_sizes,
                         global const ulong *sizes, global kma_ref *refs, global uint *wrong)
{
    const uint me = (uint)get_global_id(0);
    global uchar *block = painted(heap, aligns[me], old_sizes[me], me);
    block = (global uchar *)kma_realloc(heap, block, sizes[me]);
    look_over(heap, block, old_sizes[me], sizes[me], me, refs, wrong);
}
#endif

kernel void do_nothing_calls(global kma_heap *heap, global uint *results)
{
    results[0] = kma_malloc(heap, 0) == (global void *)0 ? 1 : 0;
    results[1] = kma_calloc(heap, 0, 8) == (global void *)0 ? 1 : 0;
    results[2] = kma_calloc(heap, 8, 0) == (global void *)0 ? 1 : 0;
    results[3] = kma_aligned_alloc(heap, 64, 0) == (global void *)0 ? 1 : 0;
    results[4] = kma_realloc_sized(heap, (global void *)0, 0, 0) == (global void *)0 ? 1 : 0;
    results[5] = kma_ref_of(heap, (global void *)0) == KMA_NULL && kma_deref(heap, KMA_NULL) == (global void *)0 ? 1 : 0;
    kma_free(heap, (global void *)0);
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
