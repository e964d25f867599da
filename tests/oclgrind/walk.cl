// The calls that every kind of heap has, by a few work-items, for a simulator that takes its time.
// Oclgrind's detector of races knows no acquire and release: within each of these kernels one
// work-item only touches a byte of a block, or the heap has given it to two.
#include "kma/kma.cl"

// Whole units: realloc copies those, also where nothing was written.
static inline ulong bytes_of(uint me)
{
    return 16 + 16 * (ulong)(me % 6);
}

// Paints a block as the work-item's, or returns how many bytes are not painted so.
static inline uint paint(global uchar *block, ulong bytes, uint me, bool is_new)
{
    uint wrong = 0;
    for (ulong n = 0; n < bytes; n++) {
        const uchar byte = (uchar)(me * 37 + n * 11 + 5);
        if (is_new)
            block[n] = byte;
        else
            wrong += block[n] != byte ? 1 : 0;
    }
    return wrong;
}

// Each work-item takes a block by one of the calls and paints it. wrong[me]: bytes of calloc that
// are not 0, and calls of 0 bytes that gave something.
kernel void walk_take(global kma_heap *heap, global kma_ref *refs, global uint *wrong)
{
    const uint me = (uint)get_global_id(0);
    const ulong bytes = bytes_of(me);
    global uchar *block;
    wrong[me] = kma_malloc(heap, 0) ? 1 : 0;
    switch (me % 5) { // not by 4: oclgrind 21.10 takes the wrong case of a switch over two bits
    case 0:
        block = (global uchar *)kma_calloc(heap, bytes, 1);
        for (ulong n = 0; block && n < bytes; n++)
            wrong[me] += block[n];
        break;
    case 1: // takes no more than `bytes`
        block = (global uchar *)kma_aligned_alloc(heap, bytes & (~bytes + 1), bytes);
        break;
    case 2:
        block = (global uchar *)kma_realloc_sized(heap, (global void *)0, 0, bytes);
        break;
    default:
        block = (global uchar *)kma_malloc(heap, bytes);
    }
    refs[me] = kma_ref_of(heap, block);
    if (block)
        paint(block, bytes, me, true);
}

// Of two neighbours one frees its block without a look at its contents, while the other takes one
// as large and paints it as its neighbour's: the only kernel here in which memory may go from one
// work-item to another.
kernel void walk_trade(global kma_heap *heap, global const kma_ref *refs, global kma_ref *next)
{
    const uint me = (uint)get_global_id(0);
    if (me % 2 == 0) {
        kma_free(heap, kma_deref(heap, refs[me]));
        return;
    }
    global uchar *block = (global uchar *)kma_malloc(heap, bytes_of(me - 1));
    next[me - 1] = kma_ref_of(heap, block);
    next[me] = refs[me];
    if (block)
        paint(block, bytes_of(me - 1), me - 1, true);
}

// The blocks grow to twice their size. By one work-item: what realloc has read it frees, and the
// next may write there.
kernel void walk_grow(global kma_heap *heap, global kma_ref *refs, global uint *wrong, uint blocks)
{
    for (uint me = 0; me < blocks; me++) {
        const ulong bytes = bytes_of(me);
        global uchar *block =
            (global uchar *)kma_realloc_sized(heap, kma_deref(heap, refs[me]), bytes, 2 * bytes);
        wrong[me] = block ? paint(block, bytes, me, false) : 1;
        refs[me] = kma_ref_of(heap, block);
        if (block)
            paint(block, 2 * bytes, me, true);
    }
}

// Each work-item looks over and frees the next one's block.
kernel void walk_give(global kma_heap *heap, global const kma_ref *refs, global uint *wrong)
{
    const uint me = (uint)get_global_id(0);
    const uint other = (me + 1) % (uint)get_global_size(0);
    global uchar *block = (global uchar *)kma_deref(heap, refs[other]);
    wrong[me] = block ? paint(block, 2 * bytes_of(other), other, false) : 1;
    kma_free(heap, block);
}

// Takes blocks until there is no more, or frees them, one kernel later.
kernel void walk_exhaust(global kma_heap *heap, global kma_ref *refs, uint most, uint is_free)
{
    const uint me = (uint)get_global_id(0);
    for (uint i = me * most; i < (me + 1) * most; i++) {
        if (is_free != 0) {
            kma_free(heap, kma_deref(heap, refs[i]));
            continue;
        }
        global uchar *block = (global uchar *)kma_malloc(heap, 1000);
        refs[i] = kma_ref_of(heap, block);
        if (block)
            paint(block, 16, me, true);
    }
}
