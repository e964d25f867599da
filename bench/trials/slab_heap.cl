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

// Each work-item takes a block and gives it back, `rounds` times.
kernel void pairs(global kma_slab *heap, uint bytes, uint rounds)
{
    for (uint i = 0; i < rounds; i++)
        kma_slab_free(heap, kma_slab_malloc(heap, bytes));
}

// Of `slots` blocks of 16 to 4080 bytes those of a window, from `first` on, come and go: each that is there goes with
// probability `give` / 2^32, each that is not comes with `come` / 2^32.
kernel void churn(global kma_slab *heap, global uint *refs, uint first, uint slots, uint seed, uint give, uint come)
{
    const uint me = (first + (uint)get_global_id(0)) % slots;
    const uint dice = kma_mix32(me * 0x9e3779b9u + seed);
    if (refs[me] != 0) {
        if (dice < give) {
            kma_slab_free(heap, kma_slab_deref(heap, refs[me]));
            refs[me] = 0;
        }
    } else if (dice < come) {
        refs[me] = kma_slab_ref_of(heap, kma_slab_malloc(heap, 16 + kma_mix32(dice) % 4065));
    }
}
