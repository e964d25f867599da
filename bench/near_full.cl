// The kernel of the suite `fill` for an almost full or full heap.
#include "kma/kma.cl"
#include "paint.cl"

// Each work-item replaces the blocks of `turns` slots by blocks of other sizes: free, then malloc.
// The slots of all turns and work-items are `stride` apart, from `first` on, in a ring of `slots`.
// Only the first of every `apart` work-items takes part; with `apart` > 1 it stops at the first
// NULL.
kernel void replace_blocks(global kma_heap *heap, global kma_ref *refs, global uint *sizes,
                           uint first, uint slots, uint stride, uint apart, uint turns, uint low,
                           uint span, uint seed, volatile global uint *counts)
{
    if (get_global_id(0) % apart != 0)
        return;
    const uint me = (uint)get_global_id(0) / apart;
    const uint step = (uint)((ulong)(get_global_size(0) / apart) * stride % slots);
    uint slot = (uint)((ulong)(first + me) * stride % slots);
    uint refused = 0;
    for (uint turn = 0; turn < turns && (apart == 1 || refused == 0); turn++) {
        const uint bytes = bench_size(kma_mix32(slot) + seed, low, span);
        kma_free(heap, kma_deref(heap, refs[slot]));
        global uchar *const block = (global uchar *)kma_malloc(heap, bytes);
        if (block)
            *block = (uchar)turn;
        refused += !block;
        refs[slot] = kma_ref_of(heap, block);
        sizes[slot] = bytes;
        slot = slot < slots - step ? slot + step : slot - (slots - step);
    }
    if (refused != 0)
        atomic_add(&counts[BENCH_NULLS], refused);
}
