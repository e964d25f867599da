// The kernels that make arenas and end them, in a heap of the program's kind. The host library
// launches them; so can any other program. Each is for one work-item.
#ifndef KMA_CONTAINERS_ARENA_KERNELS_CL
#define KMA_CONTAINERS_ARENA_KERNELS_CL

#include "kma/containers/arena.cl"

// *made is the ref of an arena with memory for `room` bytes, 0 for no chunk yet; KMA_NULL if there
// is no memory for both.
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
