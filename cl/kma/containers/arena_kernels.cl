// Kernels that make, clear and measure arenas in a heap of the program's kind, launched by the host
// library or by any other program. In each of them one work-item does the work.
#ifndef KMA_CONTAINERS_ARENA_KERNELS_CL
#define KMA_CONTAINERS_ARENA_KERNELS_CL

#include "kma/containers/arena.cl"

// Makes an arena with memory for `room` bytes (0: no chunk yet). *made: its ref, or KMA_NULL if
// there is no memory for both.
kernel void kma_arena_new_kernel(global kma_heap *heap, uint least, uint most, ulong room,
                                 global kma_ref *made)
{
    if (get_global_id(0) != 0)
        return;
    const kma_ref ref = kma_arena_new(heap, least, most);
    *made = ref;
    if (ref == KMA_NULL || room == 0 || kma_arena_room(heap, kma_arena_at(heap, ref), room))
        return;
    kma_arena_delete(heap, kma_arena_at(heap, ref));
    *made = KMA_NULL;
}

// Frees all of the arena's memory, and the arena itself unless `keep`.
kernel void kma_arena_clear_kernel(global kma_heap *heap, kma_ref arena, uint keep)
{
    if (get_global_id(0) != 0)
        return;
    if (keep != 0)
        kma_arena_clear(heap, kma_arena_at(heap, arena));
    else
        kma_arena_delete(heap, kma_arena_at(heap, arena));
}

// *bytes: the bytes that the arena's chunks occupy in the heap.
kernel void kma_arena_bytes_kernel(global kma_heap *heap, kma_ref arena, global ulong *bytes)
{
    if (get_global_id(0) == 0)
        *bytes = kma_arena_bytes(heap, kma_arena_at(heap, arena));
}

#endif
