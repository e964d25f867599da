// Two heaps in one kernel, of the kinds KMA_FIRST and KMA_SECOND, which may be the same: neighbouring work-items use
// them in turn.
#include "kma/kma.cl"
#include "kma/heap/bump.cl"
#include "kma/heap/scatter.cl"
#include "kma/heap/slab.cl"
#include "kma/heap/superblock.cl"
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
            // The ref is made in the arm of its heap, and the pointer from the ref. A pointer that both arms set gets the
            // wrong heap's address in it on Intel's CPU runtime 2026.2 with sub-groups (not with -DKMA_LANES=1).
            kma_ref ref;
            if (me & 1) {
                block = SECOND(_malloc)(second, sizes[me]);
                ref = SECOND(_ref_of)(second, block);
            } else {
                block = FIRST(_malloc)(first, sizes[me]);
                ref = FIRST(_ref_of)(first, block);
            }
            refs[me] = ref;
            block = me & 1 ? SECOND(_deref)(second, ref) : FIRST(_deref)(first, ref);
#endif
            if (block)
                paint((global uchar *)block, sizes[me], me);
            if (round + 1 == rounds) {
#ifdef KMA_SAME_KIND
                refs[me] = me & 1 ? SECOND(_ref_of)(second, block) : FIRST(_ref_of)(first, block);
#endif
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
