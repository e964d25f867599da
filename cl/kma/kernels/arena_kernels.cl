// The kernels that make arenas and end them, in a heap of the program's kind. The host library launches them; so can any
// other program. Each is for one work-item.
#ifndef KMA_KERNELS_ARENA_KERNELS_CL
#define KMA_KERNELS_ARENA_KERNELS_CL

#include "kma/containers/arena.cl"

// *made is the arena's ref, KMA_NULL if there is no memory for it.
kernel void kma_arena_new_kernel(global kma_heap *heap, uint least, uint most, global kma_ref *made)
{
    if (get_global_id(0) == 0)
        *made = kma_arena_new(heap, least, most);
}

// Frees all that was taken of the arena, and the arena itself unless `keep`.
kernel void kma_arena_clear_kernel(global kma_heap *heap, kma_ref arena, uint keep)
{
    if (get_global_id(0) != 0)
        return;
    if (keep != 0)
        kma_arena_clear(heap, kma_arena_at(heap, arena));
    else
        kma_arena_delete(heap, kma_arena_at(heap, arena));
}

// Tells how many bytes of the heap its chunks have.
kernel void kma_arena_bytes_kernel(global kma_heap *heap, kma_ref arena, global ulong *bytes)
{
    if (get_global_id(0) == 0)
        *bytes = kma_arena_bytes(heap, kma_arena_at(heap, arena));
}

#endif
