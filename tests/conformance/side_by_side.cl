// Two heaps in one kernel, of the kinds KMA_FIRST and KMA_SECOND, which may be the same: neighbouring work-items use
// them in turn.
#include "kma/kma.cl"
#include "pattern.cl"

#define OF_PASTED(kind, name) kma_##kind##name
#define OF_EXPANDED(kind, name) OF_PASTED(kind, name)
#define FIRST(name) OF_EXPANDED(KMA_FIRST, name)
#define SECOND(name) OF_EXPANDED(KMA_SECOND, name)

// rounds times: even work-items take from the first heap, odd ones from the second, and every other time give back.
// The last round leaves a block.
kernel void alternate(global FIRST() *first, global SECOND() *second, global const ulong *sizes, global kma_ref *refs,
                      uint rounds, uint slots)
{
    const uint me = (uint)get_global_id(0);
    if (me < slots)
        for (uint round = 0; round < rounds; round++) {
            global void *block;
#ifdef KMA_SAME_KIND
            // One call with two heaps in it.
            global FIRST() *mine = me & 1 ? second : first;
            block = FIRST(_malloc)(mine, sizes[me]);
#else
            if (me & 1)
                block = SECOND(_malloc)(second, sizes[me]);
            else
                block = FIRST(_malloc)(first, sizes[me]);
#endif
            if (block)
                paint((global uchar *)block, sizes[me], me);
            if (round + 1 == rounds) {
                refs[me] = me & 1 ? SECOND(_ref_of)(second, block) : FIRST(_ref_of)(first, block);
                break;
            }
#ifdef KMA_SAME_KIND
            FIRST(_free)(mine, block);
#else
            if (me & 1)
                SECOND(_free)(second, block);
            else
                FIRST(_free)(first, block);
#endif
        }
}

// Verifies the blocks and frees them, both heaps' by neighbours again.
kernel void give_both(global FIRST() *first, global SECOND() *second, global const ulong *sizes, global kma_ref *refs,
                      global uint *wrong, uint slots)
{
    const uint me = (uint)get_global_id(0);
    if (me < slots) {
        global uchar *block = (global uchar *)(me & 1 ? SECOND(_deref)(second, refs[me]) : FIRST(_deref)(first, refs[me]));
        wrong[me] = block ? count_wrong(block, sizes[me], me) : 0;
        if (me & 1)
            SECOND(_free)(second, block);
        else
            FIRST(_free)(first, block);
    }
}
