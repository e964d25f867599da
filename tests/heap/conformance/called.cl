// malloc and free in functions of the user's own that the compiler calls, from several arms and at different times, so
// that several groups of a warp or sub-group are in one function at once.
#include "kma/kma.cl"
#include "pattern.cl"

// NVIDIA's compiler calls long functions by itself, and its assembler makes other code of lanes in what is called. Intel's
// computes wrong values around calls (docs/porting.md), and is not asked to.
#if KMA_IS_NV
#define CALLED __attribute__((noinline))
#else
#define CALLED inline
#endif

static CALLED global void *take_one(global kma_heap *heap, ulong bytes)
{
    return kma_aligned_alloc(heap, 64, bytes); // its search for a size parts the lanes
}

static CALLED void give_one(global kma_heap *heap, kma_ref ref)
{
    kma_free(heap, kma_deref(heap, ref));
}

// One block for each of `slots` empty slots, of its size and up to three bytes more.
kernel void take_in_calls(global kma_heap *heap, global const ulong *sizes, global kma_ref *refs, uint slots)
{
    const uint slot = (uint)get_global_id(0);
    if (slot >= slots)
        return;
    const ulong bytes = sizes[slot];
    const uint mine = kma_mix32(slot) % 4;
    global void *block = (global void *)0;
    for (uint turn = 0; turn <= mine; turn++) // lanes leave the loop at different turns
        if (turn == mine)
            block = mine == 0   ? take_one(heap, bytes)
                    : mine == 1 ? take_one(heap, bytes + 1)
                    : mine == 2 ? take_one(heap, bytes + 2)
                                : take_one(heap, bytes + 3);
    refs[slot] = kma_ref_of(heap, block);
    if (block)
        paint((global uchar *)block, bytes, slot);
}

// Empties the slots that `order` names.
kernel void give_in_calls(global kma_heap *heap, global kma_ref *refs, global const uint *order, uint count)
{
    const uint me = (uint)get_global_id(0);
    if (me >= count)
        return;
    const uint slot = order[me];
    const uint mine = kma_mix32(me) % 4;
    for (uint turn = 0; turn <= mine; turn++)
        if (turn == mine)
            give_one(heap, refs[slot]);
    refs[slot] = KMA_NULL;
}

// Beside private arrays, which must be as they were: NVIDIA's driver gives a kernel the stack that its compiler asks for, which is
// too little if this cannot know how deep calls go (docs/porting.md).
kernel void take_beside_arrays(global kma_heap *heap, uint rounds, global uint *wrong)
{
    const uint me = (uint)get_global_id(0);
    volatile uint kept[KEPT];
    for (uint i = 0; i < KEPT; i++)
        kept[i] = kma_mix32(me * KEPT + i);
    uint bad = 0;
    for (uint round = 0; round < rounds; round++) {
        const uint bytes = 1 + kma_mix32(me + round * 0x9e3779b9u) % 200;
        global uchar *block = (global uchar *)kma_malloc(heap, bytes);
        if (block)
            paint(block, bytes, me);
        bad += !block || count_wrong(block, bytes, me) != 0 ? 1 : 0;
        kma_free(heap, block);
    }
    for (uint i = 0; i < KEPT; i++)
        bad += kept[i] != kma_mix32(me * KEPT + i) ? 1 : 0;
    wrong[me] = bad;
}
