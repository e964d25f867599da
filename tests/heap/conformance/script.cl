// A lone caller: one work-item that does what the host's script says, so that the host can foretell every result.
#include "kma/kma.cl"
#include "pattern.cl"

// Operation i is slots[i] and sizes[i]: a malloc of that size into the (empty) slot, or, with size 0, the free of what
// is in the slot, maybe nothing. results[i] is the ref of a malloc. *wrong counts bytes that were not as painted.
kernel void script(global kma_heap *heap, global const uint *slots, global const uint *sizes, uint operations,
                   global kma_ref *refs, global uint *held, global kma_ref *results, global uint *wrong)
{
    for (uint i = 0; i < operations; i++) {
        const uint slot = slots[i];
        global uchar *block;
        if (sizes[i] != 0) {
            block = (global uchar *)kma_malloc(heap, sizes[i]);
            refs[slot] = kma_ref_of(heap, block);
            held[slot] = sizes[i];
            results[i] = refs[slot];
            if (block)
                paint(block, sizes[i], slot);
        } else {
            block = (global uchar *)kma_deref(heap, refs[slot]);
            if (block)
                *wrong += count_wrong(block, held[slot], slot);
            kma_free(heap, block);
            refs[slot] = KMA_NULL;
        }
    }
}
