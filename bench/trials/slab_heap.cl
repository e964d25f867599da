// The draft of the slab heap (kma/heap/slab.cl, beside this file): each work-item takes a block, and gives it back.
#include "kma/heap/slab.cl"

// By any number of work-items.
kernel void init(global kma_slab *heap, ulong bytes, uint cursors)
{
    kma_slab_init(heap, bytes, bytes, cursors, false, get_global_id(0), get_global_size(0));
}

kernel void take(global kma_slab *heap, global uint *refs, uint low, uint span)
{
    const uint me = (uint)get_global_id(0);
    refs[me] = kma_slab_ref_of(heap, kma_slab_malloc(heap, low + kma_mix32(me) % span));
}

kernel void give(global kma_slab *heap, global uint *refs)
{
    kma_slab_free(heap, kma_slab_deref(heap, refs[get_global_id(0)]));
}
