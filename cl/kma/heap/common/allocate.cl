// kma_KIND_malloc, _calloc, _ref_of and _deref. Each kind's file includes this file after its
// kma_KIND_aligned_alloc, with KMA_KIND defined as its name.

// Allocates `bytes` at a multiple of 16 bytes, as kma_KIND_aligned_alloc.
static inline global void *KMA_OF_KIND(_malloc)(global KMA_OF_KIND() *heap, size_t bytes)
{
    return KMA_OF_KIND(_aligned_alloc)(heap, KMA_UNIT, bytes);
}

// Allocates `count` objects of `size` bytes, all zero. NULL as malloc, and if count * size
// overflows.
static inline global void *KMA_OF_KIND(_calloc)(global KMA_OF_KIND() * heap, size_t count,
                                                size_t size)
{
    // on overflow the largest number, which no heap can serve
    const ulong bytes = kma_mul_sat(count, size);
    global void *ptr =
        bytes <= ~(size_t)0 ? KMA_OF_KIND(_malloc)(heap, (size_t)bytes) : (global void *)0;
    if (ptr)
        kma_zero_block(ptr, bytes);
    return ptr;
}

// Returns the ref of `place`, a 16-byte-aligned address in the heap; KMA_NULL for NULL.
static inline kma_ref KMA_OF_KIND(_ref_of)(global KMA_OF_KIND() *heap, global void *place)
{
    return kma_ref_in(heap, place);
}

// Returns the address of a ref of this heap; NULL for KMA_NULL.
static inline global void *KMA_OF_KIND(_deref)(global KMA_OF_KIND() *heap, kma_ref ref)
{
    return kma_deref_in(heap, ref);
}
