// The work that the bump heap's tests give it. Sizes and results are one per work-item unless said otherwise.
#define KMA_HEAP bump
#include "kma/kma.cl"
#include "kma/heap/bump/kernels.cl"

// What the owner writes into byte i of its block.
static inline uchar pattern(uint owner, ulong i)
{
    return (uchar)(kma_mix32(owner) + (uint)i * 7u);
}

static inline void paint(global uchar *block, ulong bytes, uint owner)
{
    for (ulong i = 0; i < bytes; i++)
        block[i] = pattern(owner, i);
}

// Takes a block and fills it. diverged: 0 in one converged call; 1 in one of the same two calls, which a compiler may
// wrongly take for one; 2 in calls that the lanes reach each on its way.
kernel void fill(global kma_heap *heap, global const ulong *sizes, global kma_ref *refs, global ulong *pointers,
                 uint diverged)
{
    const uint me = (uint)get_global_id(0);
    global void *block = (global void *)0;
    if (diverged == 0) {
        block = kma_malloc(heap, sizes[me]);
    } else if (diverged == 1) {
        if (me & 1)
            block = kma_malloc(heap, sizes[me]);
        else
            block = kma_malloc(heap, sizes[me]);
    } else {
        for (uint turn = 0; turn < 4; turn++) {
            if (turn != kma_mix32(me) % 4)
                continue;
            switch (me % 3) {
            case 0:
                block = kma_malloc(heap, sizes[me]);
                break;
            case 1:
                block = kma_calloc(heap, 1, sizes[me]);
                break;
            default:
                if (me & 1)
                    block = kma_aligned_alloc(heap, 64, sizes[me]);
                else
                    block = kma_realloc_sized(heap, (global void *)0, 0, sizes[me]);
            }
            break;
        }
    }
    refs[me] = kma_ref_of(heap, block);
    pointers[me] = (ulong)block;
    if (block)
        paint((global uchar *)block, sizes[me], me);
}

// How many bytes of each block are not as its owner left them.
kernel void check(global kma_heap *heap, global const ulong *sizes, global const kma_ref *refs, global uint *wrong)
{
    const uint me = (uint)get_global_id(0);
    const global uchar *block = (const global uchar *)kma_deref(heap, refs[me]);
    uint n = 0;
    if (block)
        for (ulong i = 0; i < sizes[me]; i++)
            n += block[i] != pattern(me, i) ? 1 : 0;
    wrong[me] = n;
}

// One malloc each, nothing written.
kernel void request(global kma_heap *heap, global const ulong *sizes, global kma_ref *refs)
{
    const uint me = (uint)get_global_id(0);
    refs[me] = kma_ref_of(heap, kma_malloc(heap, sizes[me]));
}

// `rounds` mallocs each, one of sizes[me * rounds + i] after the other.
kernel void exhaust(global kma_heap *heap, global const ulong *sizes, global kma_ref *refs, uint rounds)
{
    const uint me = (uint)get_global_id(0);
    for (uint i = 0; i < rounds; i++)
        refs[me * rounds + i] = kma_ref_of(heap, kma_malloc(heap, sizes[me * rounds + i]));
}

// Pretends that there were `count` errors of a code.
kernel void preset_errors(global kma_heap *heap, uint code, uint count)
{
    kma_store_u32(&heap->header.errors.count[code], count, KMA_RELAXED);
}

// Neighbours use different heaps, in one call.
kernel void two_heaps(global kma_heap *even, global kma_heap *odd, global const ulong *sizes, global kma_ref *refs)
{
    const uint me = (uint)get_global_id(0);
    global kma_heap *heap = me & 1 ? odd : even;
    global void *block = kma_malloc(heap, sizes[me]);
    refs[me] = kma_ref_of(heap, block);
    if (block)
        paint((global uchar *)block, sizes[me], me);
}

kernel void check_two_heaps(global kma_heap *even, global kma_heap *odd, global const ulong *sizes,
                            global const kma_ref *refs, global uint *wrong)
{
    const uint me = (uint)get_global_id(0);
    const global uchar *block = (const global uchar *)kma_deref(me & 1 ? odd : even, refs[me]);
    uint n = 0;
    if (block)
        for (ulong i = 0; i < sizes[me]; i++)
            n += block[i] != pattern(me, i) ? 1 : 0;
    wrong[me] = n;
}
