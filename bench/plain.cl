// The battery's kernels without a heap: preparation, and work to compare with.
#include "kma/platform/bits.cl"
#include "paint.cl"

kernel void fill_words(global uint *words, uint value)
{
    words[get_global_id(0)] = value;
}

kernel void fill_sizes(global uint *sizes, uint low, uint span)
{
    sizes[get_global_id(0)] = bench_size((uint)get_global_id(0), low, span);
}

// A plain array of 64-byte elements, to compare with write_blocks and read_blocks.
kernel void write_array(global uint *array)
{
    const uint me = (uint)get_global_id(0);
    for (uint i = 0; i < 16; i++)
        array[me * 16 + i] = me + i;
}

kernel void read_array(global const uint *array, global uint *sums)
{
    const uint me = (uint)get_global_id(0);
    uint sum = 0;
    for (uint i = 0; i < 16; i++)
        sum += array[me * 16 + i];
    sums[me] = sum;
}

// Work generation in two passes. First each work-item counts the words of its output, ...
kernel void count_output(global uint *words, uint low, uint span)
{
    words[get_global_id(0)] = (bench_size((uint)get_global_id(0), low, span) + 3) / 4;
}

// ... then prefix sums are computed, within work-groups of 256 and over their totals (by one
// group), ...
static inline uint bench_scan(local uint *sums, uint me, uint value)
{
    sums[me] = value;
    for (uint step = 1; step < 256; step *= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        const uint other = me >= step ? sums[me - step] : 0;
        barrier(CLK_LOCAL_MEM_FENCE);
        sums[me] += other;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    return sums[me] - value;
}

kernel void scan_groups(global uint *words, global uint *totals)
{
    local uint sums[256];
    const uint me = (uint)get_local_id(0);
    const uint before = bench_scan(sums, me, words[get_global_id(0)]);
    words[get_global_id(0)] = before;
    if (me == 255)
        totals[get_group_id(0)] = sums[255];
}

// totals[groups] becomes the sum of all.
kernel void scan_totals(global uint *totals, uint groups)
{
    local uint sums[256];
    const uint me = (uint)get_local_id(0);
    const uint each = (groups + 255) / 256;
    uint mine = 0;
    for (uint i = me * each; i < min((me + 1) * each, groups); i++)
        mine += totals[i];
    uint before = bench_scan(sums, me, mine);
    for (uint i = me * each; i < min((me + 1) * each, groups); i++) {
        const uint total = totals[i];
        totals[i] = before;
        before += total;
    }
    if (me == 255)
        totals[groups] = sums[255];
}

// ... and each writes its output at its offset in a buffer of exactly the right size.
kernel void write_output(global uint *output, global const uint *words, global const uint *totals,
                         uint low, uint span)
{
    const uint me = (uint)get_global_id(0);
    const uint at = words[me] + totals[get_group_id(0)];
    bench_paint((global uchar *)(output + at), bench_size(me, low, span), me);
}

kernel void verify_output(global const uint *output, global const uint *words,
                          global const uint *totals, uint low, uint span,
                          volatile global uint *counts)
{
    const uint me = (uint)get_global_id(0);
    const uint at = words[me] + totals[get_group_id(0)];
    if (bench_wrong((const global uchar *)(output + at), bench_size(me, low, span), me) != 0)
        atomic_inc(&counts[BENCH_WRONG]);
}
