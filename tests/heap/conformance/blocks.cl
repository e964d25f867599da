// Blocks that outlive their kernel: taken and painted by one launch, verified by others, given back by yet others.
// Blocks live in slots: refs[slot] and sizes[slot]; ref 0 is an empty slot. The owner in the pattern is the slot.
#include "kma/kma.cl"
#include "pattern.cl"

// One block for each of `slots` empty slots, painted. call: 0 malloc, 1 calloc, 2 aligned_alloc to 64, 3 realloc_sized
// of nothing; 4 each of them, in control flow that parts the lanes.
kernel void take(global kma_heap *heap, global const ulong *sizes, global kma_ref *refs, global ulong *addresses,
                 uint slots, uint call)
{
    const uint slot = (uint)get_global_id(0);
    if (slot < slots) {
        const ulong bytes = sizes[slot];
        const uint mine = call < 4 ? call : kma_mix32(slot) % 4;
        global void *block = (global void *)0;
        for (uint turn = 0; turn <= mine; turn++) // lanes leave the loop at different turns
            if (turn == mine)
                block = mine == 0   ? kma_malloc(heap, bytes)
                        : mine == 1 ? kma_calloc(heap, 1, bytes)
                        : mine == 2 ? kma_aligned_alloc(heap, 64, bytes)
                                    : kma_realloc_sized(heap, (global void *)0, 0, bytes);
        refs[slot] = kma_ref_of(heap, block);
        addresses[slot] = (ulong)block;
        if (block)
            paint((global uchar *)block, bytes, slot);
    }
}

// One malloc for each work-item, which writes nothing into its block.
kernel void request(global kma_heap *heap, global const ulong *sizes, global kma_ref *refs)
{
    refs[get_global_id(0)] = kma_ref_of(heap, kma_malloc(heap, sizes[get_global_id(0)]));
}

// The same without output but the count of those served, so that the time is malloc's.
kernel void request_many(global kma_heap *heap, ulong bytes, global uint *served)
{
    if (kma_malloc(heap, bytes))
        atomic_inc(served);
}

// Every work-item takes blocks of `bytes` until it gets NULL. They go into slots from *used on, of all work-items in one
// list; `slots` is more than the heap can have.
kernel void fill(global kma_heap *heap, ulong bytes, global kma_ref *refs, global ulong *sizes, volatile global uint *used,
                 uint slots)
{
    for (uint i = 0; i < slots; i++) {
        global void *block = kma_malloc(heap, bytes);
        if (!block)
            break;
        const uint slot = atomic_inc(used);
        if (slot >= slots)
            break; // the host sees it by *used
        refs[slot] = kma_ref_of(heap, block);
        sizes[slot] = bytes;
        paint((global uchar *)block, bytes, slot);
    }
}

// wrong[slot]: how many bytes of the block are not as its owner left them.
kernel void verify(global kma_heap *heap, global const ulong *sizes, global const kma_ref *refs, global uint *wrong,
                   uint slots)
{
    const uint slot = (uint)get_global_id(0);
    if (slot < slots) {
        const global uchar *block = (const global uchar *)kma_deref(heap, refs[slot]);
        wrong[slot] = block ? count_wrong(block, sizes[slot], slot) : 0;
    }
}

// Empties the slots that `order` names; so the work-item that frees is not the one that took.
kernel void give(global kma_heap *heap, global kma_ref *refs, global const uint *order, uint count)
{
    const uint me = (uint)get_global_id(0);
    if (me < count) {
        const uint slot = order[me];
        kma_free(heap, kma_deref(heap, refs[slot]));
        refs[slot] = KMA_NULL;
    }
}
