// The kernels of the battery's suites on a heap. One program for all suites, with sizes as
// arguments: drivers then compile malloc and free rarely.
//
// refs[slot] is the block of a slot; its contents are painted by the slot's number.
// BENCH_KNOWS_SIZES: whether the heap has kma_usable_size.
#include "kma/kma.cl"
#include "paint.cl"

// The cost of a program that does nothing.
kernel void empty(global kma_heap *heap, global kma_ref *refs)
{
}

// Each work-item allocates one block.
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

// One work-item allocates blocks until it gets NULL, at most `most`, and writes their number to
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

// The same work for the untimed round: paints every byte of a block, and checks it before the free.
// Each block outlives the next malloc: a lone work-item then detects a heap that returns the same
// block twice.
kernel void pairs_verified(global kma_heap *heap, global uint *nulls, uint turns, uint variance,
                           uint bytes, volatile global uint *counts)
{
    const uint me = (uint)get_global_id(0);
    uint refused = 0;
    uint bad = 0;
    global uchar *before = (global uchar *)0;
    uint before_bytes = 0;
    for (uint turn = 0; turn <= turns; turn++) { // the last turn only frees
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

// One turn of the steady state (Steinberger and others, ScatterAlloc, 7). A work-item allocates a
// block for its slot with probability `take_below` / 2^32 if the slot is empty, else frees it with
// probability `give_below` / 2^32. The slots of a launch begin at `first` in a ring of `slots`.
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

// As steady, for large blocks: sizes are uniform on a logarithmic scale, 2^shift to 2^(shift +
// powers) units of 16 bytes, and stored in `units`.
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

// One work-item allocates a block of this many units of 16 bytes, and writes its first and last
// byte.
kernel void allocate_units(global kma_heap *heap, global kma_ref *refs, uint slot, uint units)
{
    global uchar *const block = (global uchar *)kma_malloc(heap, (size_t)units * 16);
    if (block) {
        block[0] = 1;
        block[(size_t)units * 16 - 1] = 1;
    }
    refs[slot] = kma_ref_of(heap, block);
}

// The bytes of each slot's block, rounded up by the heap if it reports that.
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

// Counts NULLs and blocks outside of the heap among the slots' refs, and finds the range of the
// other blocks.
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

// Counts the blocks without their painted contents: of two overlapping blocks one is wrong.
kernel void verify(global kma_heap *heap, ulong heap_bytes, global const kma_ref *refs,
                   global const uint *sizes, uint first, volatile global uint *counts)
{
    const uint slot = first + (uint)get_global_id(0);
    if (refs[slot] != KMA_NULL && bench_inside(refs[slot], sizes[slot], heap_bytes) &&
        bench_wrong((const global uchar *)kma_deref(heap, refs[slot]), sizes[slot], slot) != 0)
        atomic_inc(&counts[BENCH_WRONG]);
}

// Writes 64 bytes of each block as 16 ints; read_blocks reads them.
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

// Work generation with malloc: each work-item allocates a block of its own size and paints its
// output.
kernel void generate(global kma_heap *heap, global kma_ref *refs, uint low, uint span)
{
    const uint me = (uint)get_global_id(0);
    const uint bytes = bench_size(me, low, span);
    global uchar *const block = (global uchar *)kma_malloc(heap, bytes);
    if (block)
        bench_paint(block, bytes, me);
    refs[me] = kma_ref_of(heap, block);
}
