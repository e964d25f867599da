// KMA_STD_NAMES: C's names for kma's functions.
#define KMA_HEAP bump
#include "kma/kma.cl"

typedef struct point {
    float x, y;
} point;

kernel void std_names(global kma_heap *heap, global uint *results)
{
    const uint me = (uint)get_global_id(0);
    global point *one = (global point *)malloc(heap, sizeof(point));
    global uint *zeros = (global uint *)calloc(heap, 10, sizeof(uint));
    global void *aligned = aligned_alloc(heap, 128, 40);
    results[me] = 0;
    if (!one || !zeros || !aligned)
        return;
    one->x = 1.0f;
    one->y = 2.0f;
    results[me] = one->x + one->y == 3.0f && zeros[0] == 0 && zeros[9] == 0 ? 1 : 0;
    results[me] += kma_ref_of(heap, aligned) % 8 == 0 ? 1 : 0;
#if KMA_DEBUG
    one = (global point *)realloc(heap, one, 100 * sizeof(point));
    results[me] += one && one->x == 1.0f && one->y == 2.0f ? 1 : 0;
#endif
    free(heap, one);
    free(heap, zeros);
    free(heap, aligned);
}
