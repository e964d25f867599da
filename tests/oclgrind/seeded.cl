// One defect in each kernel: what oclgrind must find, so that its runs on kma cannot be blind.
#include "kma/kma.cl"

// Work-items of one group write into one block, without an atomic between them.
kernel void race_in_group(global kma_heap *heap, global kma_ref *refs)
{
    if (get_local_id(0) == 0)
        refs[get_group_id(0)] = kma_ref_of(heap, kma_malloc(heap, 16));
    barrier(CLK_GLOBAL_MEM_FENCE);
    global uint *block = (global uint *)kma_deref(heap, refs[get_group_id(0)]);
    if (block)
        *block = (uint)get_local_id(0); // the race
}

// Work-items of two groups write what is in the same place of a buffer.
kernel void race_of_groups(global kma_heap *heap, global kma_ref *refs)
{
    refs[get_local_id(0)] = kma_ref_of(heap, kma_malloc(heap, 16)); // the race
}

// As race_in_group, inside the heap: the block is zeroed by all.
kernel void race_in_heap(global kma_heap *heap, global kma_ref *refs)
{
    if (get_global_id(0) == 0)
        refs[0] = kma_ref_of(heap, kma_malloc(heap, 64));
    barrier(CLK_GLOBAL_MEM_FENCE);
    global uint *block = (global uint *)kma_deref(heap, refs[0]);
    if (block && get_group_id(0) == 0) {
        block[get_local_id(0)] = (uint)get_local_id(0) + 1;
        if (get_local_id(0) == 0)
            kma_zero_block(block, 64); // the race
    }
}

kernel void uninitialised(global kma_heap *heap, global kma_ref *refs)
{
    global uint *block = (global uint *)kma_malloc(heap, 64);
    if (block && block[3] == 17) // a new block's contents are undefined
        refs[get_global_id(0)] = KMA_NULL;
}

kernel void out_of_bounds(global kma_heap *heap, global kma_ref *refs)
{
    refs[get_global_size(0) + get_global_id(0)] = heap->header.begin;
}
