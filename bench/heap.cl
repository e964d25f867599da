// The work of the battery's suites on a heap: one program for all of them, so that a driver
// compiles malloc and free as seldom as can be. Sizes are arguments for the same reason.
//
// Blocks live in slots, refs[slot]; what is in them is painted by their slot. BENCH_KNOWS_SIZES:
// whether the heap has kma_usable_size.
#include "kma/kma.cl"
#include "paint.cl"

// What a user's program pays who does nothing.
kernel void empty(global kma_heap *heap, global kma_ref *refs)
{
}

// One block for each work-item.
kernel void allocate(global kma_heap *heap, global kma_ref *refs, uint first, uint low, uint span)
{
    const uint me = (uint)get_global_id(0);
    refs[first + me] = kma_ref_of(heap, kma_malloc(heap, bench_size(me, low, span)));
}

kernel void release(global kma_heap *heap, global kma_ref *refs, uint first)
{
    const uint me = (uint)get_global_id(0);
    kma_free(heap, kma_deref(heap, refs[first + me]));
}

// One work-item takes blocks until it gets NULL, `most` of them at most; how many it got goes into
// *served.
kernel void allocate_alone(global kma_heap *heap, global kma_ref *refs, uint first, uint most,
                           uint bytes, global uint *served)
{
    uint count = 0;
    while (count < most) {
        global void *const block = kma_malloc(heap, bytes);
        if (!block)
            break;
        refs[first + count] = kma_ref_of(heap, block);
        count++;
    }
    *served = count;
}

// Pairs of malloc and free by each work-item, one byte written into each block. variance 0:
// `bytes`; 1: half of the work-items 4, half 8; 2 and 3: 1 to 16. With 1 and 3 the first work-item
// takes 4000. (Spliet, thesis 6.2.1)
static inline uint bench_pair_bytes(uint me, uint turn, uint variance, uint bytes)
{
    if ((variance & 1) != 0 && me == 0)
        return 4000;
    return variance == 0 ? bytes : variance == 1 ? 4u << (me & 1) : 1u << ((me + turn) % 5);
}

kernel void pairs(global kma_heap *heap, global uint *nulls, uint turns, uint variance, uint bytes)
{
    const uint me = (uint)get_global_id(0);
    uint refused = 0;
    for (uint turn = 0; turn < turns; turn++) {
        global uchar *const block =
            (global uchar *)kma_malloc(heap, bench_pair_bytes(me, turn, variance, bytes));
        if (block)
            *block = (uchar)turn;
        refused += !block;
        kma_free(heap, block);
    }
    nulls[me] = refused;
}

// The same work for the untimed round: every byte of a block is painted, and looked at before the
// free. Each block outlives the next one's malloc, so that a heap that gives everybody the same
// block is found out by a lone work-item.
kernel void pairs_verified(global kma_heap *heap, global uint *nulls, uint turns, uint variance,
                           uint bytes, volatile global uint *counts)
{
    const uint me = (uint)get_global_id(0);
    uint refused = 0;
    uint bad = 0;
    global uchar *before = (global uchar *)0;
    uint before_bytes = 0;
    for (uint turn = 0; turn <= turns; turn++) { // the last one only frees
        const uint wanted = turn < turns ? bench_pair_bytes(me, turn, variance, bytes) : 0;
        global uchar *const block = (global uchar *)kma_malloc(heap, wanted);
        if (block)
            bench_paint(block, wanted, me * turns + turn);
        refused += wanted != 0 && !block;
        if (before)
            bad += bench_wrong(before, before_bytes, me * turns + turn - 1);
        kma_free(heap, before);
        before = block;
        before_bytes = wanted;
    }
    nulls[me] = refused;
    if (bad != 0)
        atomic_add(&counts[BENCH_WRONG], bad);
}

// One turn of the steady state (Steinberger and others, ScatterAlloc, 7): the work-item's slot gets
// a block with the chance of `take_below` in 2^32 if it has none, and loses it with that of
// `give_below` if it has. The slots of a launch are those from `first` on, of `slots` that form a
// ring.
kernel void steady(global kma_heap *heap, global kma_ref *refs, global uint *sizes, uint first,
                   uint slots, uint take_below, uint give_below, uint low, uint span, uint seed,
                   volatile global uint *counts)
{
    const uint slot = (first + (uint)get_global_id(0)) % slots;
    const uint random = kma_mix32(kma_mix32(slot) + seed);
    const kma_ref old = refs[slot];
    if (old != KMA_NULL) {
        if (random < give_below) {
            kma_free(heap, kma_deref(heap, old));
            refs[slot] = KMA_NULL;
        }
    } else if (random < take_below) {
        const uint bytes = bench_size(random, low, span);
        const kma_ref mine = kma_ref_of(heap, kma_malloc(heap, bytes));
        refs[slot] = mine;
        sizes[slot] = bytes;
        if (mine == KMA_NULL)
            atomic_inc(&counts[BENCH_NULLS]);
    }
}

// The same for large blocks, each as long as any other on a scale of logarithms: 2^shift to
// 2^(shift + powers) units of 16 bytes, `units` the sizes.
kernel void steady_large(global kma_heap *heap, global kma_ref *refs, global uint *units,
                         uint shift, uint powers, uint seed, volatile global uint *counts)
{
    const uint slot = (uint)get_global_id(0);
    const uint random = kma_mix32(kma_mix32(slot) + seed);
    const kma_ref old = refs[slot];
    if ((random & 1) != 0)
        return;
    if (old != KMA_NULL) {
        kma_free(heap, kma_deref(heap, old));
        refs[slot] = KMA_NULL;
    } else {
        const uint power = shift + (random >> 1) % powers;
        const uint wanted = (1u << power) + kma_mix32(random) % (1u << power);
        const kma_ref mine = kma_ref_of(heap, kma_malloc(heap, (size_t)wanted * 16));
        refs[slot] = mine;
        units[slot] = wanted;
        if (mine == KMA_NULL)
            atomic_inc(&counts[BENCH_NULLS]);
    }
}

// A block of so many units of 16 bytes, for one work-item, which writes its first byte and its last
// one.
kernel void allocate_units(global kma_heap *heap, global kma_ref *refs, uint slot, uint units)
{
    global uchar *const block = (global uchar *)kma_malloc(heap, (size_t)units * 16);
    if (block) {
        block[0] = 1;
        block[(size_t)units * 16 - 1] = 1;
    }
    refs[slot] = kma_ref_of(heap, block);
}

// What each slot's block takes of the heap, as far as the heap tells.
kernel void taken(global kma_heap *heap, global const kma_ref *refs, global const uint *sizes,
                  global uint *bytes)
{
    const uint slot = (uint)get_global_id(0);
    const kma_ref ref = refs[slot];
#if BENCH_KNOWS_SIZES
    bytes[slot] = ref != KMA_NULL ? (uint)kma_usable_size(heap, kma_deref(heap, ref)) : 0;
#else
    bytes[slot] = ref != KMA_NULL ? (sizes[slot] + 15u) / 16u * 16u : 0;
#endif
}

// Counts the NULLs among the slots' refs and the blocks that lie outside, and finds the range that
// all others span.
kernel void look(ulong heap_bytes, global const kma_ref *refs, global const uint *sizes, uint first,
                 volatile global uint *counts)
{
    const uint slot = first + (uint)get_global_id(0);
    const kma_ref ref = refs[slot];
    if (ref == KMA_NULL) {
        atomic_inc(&counts[BENCH_NULLS]);
    } else if (!bench_inside(ref, sizes[slot], heap_bytes)) {
        atomic_inc(&counts[BENCH_WRONG]);
    } else {
        atomic_min(&counts[BENCH_LOWEST], ref);
        atomic_max(&counts[BENCH_HIGHEST], ref + (sizes[slot] + 15u) / 16u);
    }
}

kernel void paint(global kma_heap *heap, ulong heap_bytes, global const kma_ref *refs,
                  global const uint *sizes, uint first)
{
    const uint slot = first + (uint)get_global_id(0);
    if (refs[slot] != KMA_NULL && bench_inside(refs[slot], sizes[slot], heap_bytes))
        bench_paint((global uchar *)kma_deref(heap, refs[slot]), sizes[slot], slot);
}

// Counts the blocks that are not as they were painted: two that overlap cannot both be.
kernel void verify(global kma_heap *heap, ulong heap_bytes, global const kma_ref *refs,
                   global const uint *sizes, uint first, volatile global uint *counts)
{
    const uint slot = first + (uint)get_global_id(0);
    if (refs[slot] != KMA_NULL && bench_inside(refs[slot], sizes[slot], heap_bytes) &&
        bench_wrong((const global uchar *)kma_deref(heap, refs[slot]), sizes[slot], slot) != 0)
        atomic_inc(&counts[BENCH_WRONG]);
}

// 64 bytes of each block written, and read back, as 16 ints.
kernel void write_blocks(global kma_heap *heap, global const kma_ref *refs)
{
    const uint me = (uint)get_global_id(0);
    global uint *const block = (global uint *)kma_deref(heap, refs[me]);
    if (block)
        for (uint i = 0; i < 16; i++)
            block[i] = me + i;
}

kernel void read_blocks(global kma_heap *heap, global const kma_ref *refs, global uint *sums)
{
    const uint me = (uint)get_global_id(0);
    const global uint *const block = (const global uint *)kma_deref(heap, refs[me]);
    uint sum = 0;
    if (block)
        for (uint i = 0; i < 16; i++)
            sum += block[i];
    sums[me] = sum;
}

// Work generation with malloc: each work-item makes output of its own size, painted, in a block of
// its own.
kernel void generate(global kma_heap *heap, global kma_ref *refs, uint low, uint span)
{
    const uint me = (uint)get_global_id(0);
    const uint bytes = bench_size(me, low, span);
    global uchar *const block = (global uchar *)kma_malloc(heap, bytes);
    if (block)
        bench_paint(block, bytes, me);
    refs[me] = kma_ref_of(heap, block);
}
