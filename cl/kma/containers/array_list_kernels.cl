// Kernels that make, clear, measure and copy array lists in a heap of the program's kind, launched
// by the host library or by any other program.
#ifndef KMA_CONTAINERS_ARRAY_LIST_KERNELS_CL
#define KMA_CONTAINERS_ARRAY_LIST_KERNELS_CL

#include "kma/containers/array_list.cl"

// Makes a list with memory for `room` objects. *made: its ref, or KMA_NULL if there is no memory
// for both. One work-item does the work.
kernel void kma_array_list_new_kernel(global kma_heap *heap, uint object_bytes, uint align,
                                      uint objects, uint most, uint room, global kma_ref *made)
{
    if (get_global_id(0) != 0)
        return;
    const kma_ref ref = kma_array_list_new(heap, object_bytes, align, objects, most);
    *made = ref;
    if (ref == KMA_NULL || kma_array_list_room(heap, kma_array_list_at(heap, ref), room))
        return;
    kma_array_list_delete(heap, kma_array_list_at(heap, ref));
    *made = KMA_NULL;
}

// Frees all objects, and the list itself unless `keep`. One work-item does the work.
kernel void kma_array_list_clear_kernel(global kma_heap *heap, kma_ref list, uint keep)
{
    if (get_global_id(0) != 0)
        return;
    if (keep != 0)
        kma_array_list_clear(heap, kma_array_list_at(heap, list));
    else
        kma_array_list_delete(heap, kma_array_list_at(heap, list));
}

// size_and_room: the number of objects, and the number for which there is memory in all. One
// work-item does the work.
kernel void kma_array_list_size_kernel(global kma_heap *heap, kma_ref ref,
                                       global uint *size_and_room)
{
    if (get_global_id(0) != 0)
        return;
    global kma_array_list *list = kma_array_list_at(heap, ref);
    size_and_room[0] = kma_array_list_size(list);
    size_and_room[1] = kma_array_list_size(list) + kma_load_u32(&list->credit, KMA_RELAXED);
}

// Copies objects first … first + count - 1 to `to`, in order of their indices, without gaps. Any
// number of work-items, one dimension.
kernel void kma_array_list_copy_kernel(global kma_heap *heap, kma_ref ref, uint first, uint count,
                                       global uchar *to)
{
    global kma_array_list *list = kma_array_list_at(heap, ref);
    const uint bytes = list->object_bytes;
    for (size_t i = get_global_id(0); i < count; i += get_global_size(0)) {
        const global uchar *from =
            (const global uchar *)kma_array_list_get(heap, list, first + (uint)i);
        for (uint k = 0; k < bytes; k++)
            to[i * bytes + k] = from[k];
    }
}

#endif
