// The kernel of the suite `sparse`: random lanes allocate a block each, and free it two kernels
// later.
#include "kma/kma.cl"
#include "paint.cl"

// Kernel number `turn`. A work-item allocates a block with probability `take_below` / 2^32, then
// frees the one that it allocated two kernels before. Block and size are in slot turn % 2 *
// work-items + me. The first `painted` bytes of each block are written after malloc and checked
// before the free.
kernel void sparse(global kma_heap *heap, ulong heap_bytes, global kma_ref *refs,
                   global uint *sizes, uint turn, uint take_below, uint low, uint span,
                   uint painted, volatile global uint *counts)
{
    const uint me = (uint)get_global_id(0);
    const uint items = (uint)get_global_size(0);
    const uint slot = (turn & 1) * items + me;
    const uint random = kma_mix32(kma_mix32(me) + turn * 0x9e3779b9u);
    const bool takes = random < take_below;
    const kma_ref old = refs[slot];
    kma_ref mine = KMA_NULL;
    uint bytes = 0;
    if (takes) {
        bytes = bench_size(random, low, span);
        global uchar *const block = (global uchar *)kma_malloc(heap, bytes);
        mine = kma_ref_of(heap, block);
        if (mine == KMA_NULL)
            atomic_inc(&counts[BENCH_NULLS]);
        else if (bench_inside(mine, bytes, heap_bytes))
            bench_paint(block, min(bytes, painted), turn * items + me);
    }
    if (old != KMA_NULL) {
        const uint old_bytes = sizes[slot];
        global uchar *const block = (global uchar *)kma_deref(heap, old);
        if (!bench_inside(old, old_bytes, heap_bytes) ||
            bench_wrong(block, min(old_bytes, painted), (turn - 2) * items + me) != 0)
            atomic_inc(&counts[BENCH_WRONG]);
        kma_free(heap, block);
    }
    if (takes || old != KMA_NULL) {
        refs[slot] = mine;
        sizes[slot] = bytes;
    }
}
