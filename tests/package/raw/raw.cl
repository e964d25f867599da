#include "kma/kma.cl"
#include "kma/heap/slab/kernels.cl"

// Each work-item keeps its number in a block; the second kernel reads the blocks, and frees them.
kernel void fill(global kma_heap *heap, global kma_ref *refs)
{
    global uint *block = kma_malloc(heap, sizeof(uint));
    if (block)
        *block = get_global_id(0);
    refs[get_global_id(0)] = kma_ref_of(heap, block);
}

kernel void read_back(global kma_heap *heap, global const kma_ref *refs, global uint *numbers)
{
    global uint *block = kma_deref(heap, refs[get_global_id(0)]);
    numbers[get_global_id(0)] = block ? *block : UINT_MAX;
    kma_free(heap, block);
}
