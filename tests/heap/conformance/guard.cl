// What KMA_DEBUG 2 and 3 must notice.
#include "kma/kma.cl"

// One block of each work-item from each of the calls, and the lines in which they are.
#line 101 "sites.cl"
kernel void take_everywhere(global kma_heap *heap, global uint *lines)
{
    global void *first = kma_malloc(heap, 8); lines[0] = __LINE__;
    global void *second = kma_malloc(heap, 9); lines[1] = __LINE__;
    kma_calloc(heap, 3, 10); lines[2] = __LINE__;
    kma_aligned_alloc(heap, 64, 200); lines[3] = __LINE__;
    KMA_NEW(heap, float8); lines[4] = __LINE__;
    kma_realloc(heap, first, 100); lines[5] = __LINE__; // from where it was taken first, nothing lives now
    kma_realloc_sized(heap, (global void *)0, 0, 12); lines[6] = __LINE__;
    kma_realloc(heap, second, 7); lines[7] = __LINE__; // in place
}
