// The bump heap with KMA_DEBUG: what it notices.
#define KMA_HEAP bump
#include "kma/kma.cl"

// One block's life, and what must be refused. results: see the host's list.
kernel void life(global kma_heap *heap, global ulong *results)
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
}

// `what`: 0 twice the same block, 1 into a block, 2 between 16-byte units, 3 the metadata, 4 behind the end, 5 another
// buffer, 6 a block of another heap, 7 memory that was never handed out.
kernel void wrong_free(global kma_heap *heap, global kma_heap *other, global uchar *foreign, uint what,
                       global kma_ref *ref)
{
    global uchar *block = (global uchar *)kma_malloc(heap, 64);
    for (uint i = 0; i < 64; i++)
        block[i] = 0;
    *ref = kma_ref_of(heap, block);
    switch (what) {
    case 0:
        kma_free(heap, block);
        kma_free(heap, block);
        break;
    case 1:
        kma_free(heap, block + 16);
        break;
    case 2:
        kma_free(heap, block + 8);
        break;
    case 3:
        kma_free(heap, (global uchar *)heap + 16);
        break;
    case 4:
        kma_free(heap, (global uchar *)heap + heap->header.bytes);
        break;
    case 5:
        kma_free(heap, foreign);
        break;
    case 6:
        kma_free(heap, kma_malloc(other, 64));
        break;
    default:
        kma_free(heap, block + 128);
    }
}

kernel void take_blocks(global kma_heap *heap, global kma_ref *refs, ulong bytes)
{
    refs[get_global_id(0)] = kma_ref_of(heap, kma_malloc(heap, bytes));
}

// All work-items free all blocks.
kernel void free_same(global kma_heap *heap, global const kma_ref *refs, uint blocks)
{
    for (uint i = 0; i < blocks; i++)
        kma_free(heap, kma_deref(heap, refs[i]));
}

// Every call on what is no heap of this flavour, given a block in it.
kernel void not_mine(global kma_heap *heap, kma_ref ref, global uint *results)
{
    global void *block = kma_deref(heap, ref);
    results[0] = kma_malloc(heap, 16) == (global void *)0 ? 1 : 0;
    results[1] = kma_usable_size(heap, block) == 0 ? 1 : 0;
    results[2] = kma_realloc(heap, block, 8) == (global void *)0 ? 1 : 0;
    results[3] = kma_realloc_sized(heap, block, 64, 8) == (global void *)0 ? 1 : 0;
    kma_free(heap, block);
}
