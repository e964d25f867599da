// Frees that a heap must refuse, and report.
#include "kma/kma.cl"

// The blocks in refs are alive, `freed` was one until an earlier kernel, `others` is a block of the other heap. what: 0
// twice in a row, which empties slot 0; 1 freed by the earlier kernel; 2 into a block; 3 between 16-byte units; 4 the
// metadata; 5 behind the heap; 6 another buffer; 7 a block of the other heap; 8 the heap's end, never handed out.
kernel void free_wrongly(global kma_heap *heap, global kma_heap *other, global uchar *foreign, global kma_ref *refs,
                         kma_ref freed, kma_ref others, uint what)
{
    global uchar *block = (global uchar *)kma_deref(heap, refs[0]);
    switch (what) {
    case 0:
        kma_free(heap, block);
        kma_free(heap, block);
        refs[0] = KMA_NULL;
        break;
    case 1:
        kma_free(heap, kma_deref(heap, freed));
        break;
    case 2:
        kma_free(heap, block + 16);
        break;
    case 3:
        kma_free(heap, block + 8);
        break;
    case 4:
        kma_free(heap, (global uchar *)heap + 16);
        break;
    case 5:
        kma_free(heap, (global uchar *)heap + heap->header.bytes);
        break;
    case 6:
        kma_free(heap, foreign);
        break;
    case 7:
        kma_free(heap, kma_deref(other, others));
        break;
    default:
        kma_free(heap, (global uchar *)heap + (heap->header.bytes - 64) / 64 * 64);
    }
}

// All work-items free all of `blocks` blocks: of each block one work-item does, the others are reported.
kernel void free_all(global kma_heap *heap, global const kma_ref *refs, uint blocks)
{
    for (uint i = 0; i < blocks; i++)
        kma_free(heap, kma_deref(heap, refs[(i + (uint)get_global_id(0)) % blocks]));
}
