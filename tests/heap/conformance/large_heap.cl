// Blocks so large, or so many, that only their ends are painted.
#include "kma/kma.cl"
#include "pattern.cl"

#define END 16

// One block for each of `slots` empty slots; bytes >= 2 * END.
kernel void take_ends(global kma_heap *heap, ulong bytes, global kma_ref *refs, uint slots)
{
    const uint slot = (uint)get_global_id(0);
    if (slot < slots) {
        global uchar *block = (global uchar *)kma_malloc(heap, bytes);
        refs[slot] = kma_ref_of(heap, block);
        if (block) {
            paint(block, END, slot);
            paint(block + bytes - END, END, ~slot);
        }
    }
}

// wrong[slot]: how many bytes of the block's ends are not as its owner left them.
kernel void verify_ends(global kma_heap *heap, ulong bytes, global const kma_ref *refs, global uint *wrong, uint slots)
{
    const uint slot = (uint)get_global_id(0);
    if (slot < slots) {
        const global uchar *block = (const global uchar *)kma_deref(heap, refs[slot]);
        wrong[slot] = block ? count_wrong(block, END, slot) + count_wrong(block + bytes - END, END, ~slot) : 0;
    }
}
