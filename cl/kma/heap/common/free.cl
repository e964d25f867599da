// kma_KIND_free and _usable_size, for kinds that know their blocks' sizes. The kind's file defines
// KMA_KIND as its name and KMA_KIND_COLD as the attribute of free and realloc. It includes this
// file after
//
//   void   kma_KIND_release    (heap, ptr)  frees the block at `ptr`; a record if there is none
//   size_t kma_KIND_block_bytes(heap, ptr)  bytes of the allocated block at `ptr`; 0 if none

// Frees a block; NULL is allowed. Any lane, of the kernel that allocated the block or of a later
// one. Release: pairs with the acquire of the malloc that returns the memory next. A pointer to no
// living block is logged and otherwise ignored.
static inline KMA_KIND_COLD void KMA_OF_KIND(_free)(global KMA_OF_KIND() *heap, global void *ptr)
{
#if KMA_DEBUG
    if (ptr && !kma_heap_is(heap, KMA_OF_KIND(_number)))
        return;
#endif
    if (!ptr)
        return;
#if KMA_DEBUG >= 2
    KMA_OF_KIND(_retire)(heap, ptr);
#else
    KMA_OF_KIND(_release)(heap, ptr);
#endif
}

// Returns the bytes that the block at `ptr` may use, at least those requested; 0 if `ptr` is no
// living block.
static inline size_t KMA_OF_KIND(_usable_size)(global KMA_OF_KIND() *heap, global void *ptr)
{
#if KMA_DEBUG
    if (!ptr || !kma_heap_is(heap, KMA_OF_KIND(_number)))
        return 0;
#endif
#if KMA_DEBUG >= 2
    const kma_ref ref = KMA_OF_KIND(_living)(heap, ptr);
    return ref != KMA_NULL ? (size_t)kma_guard_block_of(&heap->header, ref)->bytes : 0;
#else
    return KMA_OF_KIND(_block_bytes)(heap, ptr);
#endif
}
