// kma_KIND_realloc and _realloc_sized, for kinds that know their blocks' sizes. The kind's file
// includes this file after common/free.cl, with the same macros defined, and after
//
//   void *kma_KIND_replace(heap, ptr, usable, bytes)
//
// which returns memory of `bytes`: `ptr` itself, a block of `usable` bytes, if it can grow in
// place; else a new block, aligned by kma_kept_align; NULL if there is no memory.

// Resizes a block to `bytes`: in place if possible, else its contents move to a new block. NULL if
// there is no memory; the old block then stays. `bytes` = 0 frees the block and returns NULL. A
// NULL `ptr` makes it malloc. A pointer that is no living block gives NULL and a record. Any lane.
static inline KMA_KIND_COLD global void *KMA_OF_KIND(_realloc)(global KMA_OF_KIND() * heap,
                                                               global void *ptr, size_t bytes)
{
#if KMA_DEBUG
    if (!kma_heap_is(heap, KMA_OF_KIND(_number)))
        return (global void *)0;
#endif
    const size_t usable = ptr ? KMA_OF_KIND(_usable_size)(heap, ptr) : 0;
    if (ptr && usable == 0) {
        kma_report(&heap->header, KMA_ERROR_INVALID_FREE, kma_wrong_ref(&heap->header, ptr), bytes);
        return (global void *)0;
    }
    if (bytes != 0 && bytes <= usable) {
#if KMA_DEBUG >= 2
        kma_guard_resize(&heap->header, kma_ref_in(heap, ptr), bytes);
#endif
        return ptr;
    }
    global void *moved = KMA_OF_KIND(_replace)(heap, ptr, usable, bytes);
    if (moved == ptr)
        return ptr;
    if (ptr && moved)
        kma_copy_block(moved, ptr, usable);
    if (moved || bytes == 0)
        KMA_OF_KIND(_free)(heap, ptr);
    return moved;
}

// kma_KIND_realloc, for programs that also run on heaps which do not know their blocks' sizes.
static inline global void *KMA_OF_KIND(_realloc_sized)(global KMA_OF_KIND() *heap, global void *ptr,
                                                       size_t old_bytes, size_t bytes)
{
    (void)old_bytes;
    return KMA_OF_KIND(_realloc)(heap, ptr, bytes);
}
