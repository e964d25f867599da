// What bump heaps alone must show; tests/heap/conformance has the rest.
#define KMA_HEAP bump
#include "kma/kma.cl"

// `rounds` mallocs each, of sizes[me * rounds + i], one after the other.
kernel void request(global kma_heap *heap, global const ulong *sizes, global kma_ref *refs, uint rounds)
{
    const uint me = (uint)get_global_id(0);
    for (uint i = 0; i < rounds; i++)
        refs[me * rounds + i] = kma_ref_of(heap, kma_malloc(heap, sizes[me * rounds + i]));
}

#if KMA_DEBUG
// One block's life, then pointers that are no living block's. results: see the host's list.
kernel void life(global kma_heap *heap, global kma_heap *other, global uchar *foreign, global ulong *results)
{
    uint n = 0;
    global uchar *block = (global uchar *)kma_malloc(heap, 100);
    results[n++] = kma_usable_size(heap, block);
    results[n++] = kma_usable_size(heap, block + 16);
    results[n++] = kma_usable_size(heap, block + 1);
    results[n++] = kma_usable_size(heap, (global void *)0);
    for (uint i = 0; i < 100; i++)
        block[i] = (uchar)i;
    results[n++] = kma_realloc(heap, block, 112) == (global void *)block; // within its last 16 bytes
    results[n++] = kma_realloc(heap, block, 20) == (global void *)block;
    results[n++] = (ulong)kma_realloc_sized(heap, block, 33, 8); // it has 32
    results[n++] = kma_usable_size(heap, block);
    global uchar *moved = (global uchar *)kma_realloc(heap, block, 1000);
    results[n++] = moved != block && moved[0] == 0 && moved[19] == 19;
    results[n++] = kma_usable_size(heap, moved);
    results[n++] = kma_usable_size(heap, block); // freed by realloc
    results[n++] = (ulong)kma_realloc(heap, block, 50);
    results[n++] = (ulong)kma_realloc(heap, moved, 0); // frees
    results[n++] = kma_usable_size(heap, moved);
    results[n++] = kma_usable_size(heap, kma_realloc(heap, (global void *)0, 33));
    global uchar *kept = (global uchar *)kma_calloc(heap, 64, 1);
    kma_free(heap, moved);     // a second time
    kma_free(heap, kept + 16); // in a block
    kma_free(heap, kept + 8);
    kma_free(heap, (global uchar *)heap + 16);
    kma_free(heap, (global uchar *)heap + heap->header.bytes);
    kma_free(heap, foreign);
    kma_free(heap, kma_malloc(other, 64));
    kma_free(heap, kept + 128); // never handed out
    results[n++] = kma_ref_of(heap, moved);
    results[n++] = kma_ref_of(heap, kept);
}

// All work-items free all blocks.
kernel void free_same(global kma_heap *heap, global const kma_ref *refs, uint blocks)
{
    for (uint i = 0; i < blocks; i++)
        kma_free(heap, kma_deref(heap, refs[i]));
}
#endif
