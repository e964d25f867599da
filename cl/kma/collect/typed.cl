// Typed objects: memory that a collector frees when it is unreachable (kma::Collector).
//
// kma::Types generates for each type T
//
//   T_new      (heap)      a new object, all zero
//   T_new_array(heap, n)   a new array of n objects, all zero
//   T_at       (heap, ref) the object at a ref, NULL for KMA_NULL
//
// These take a pointer to an object, or to the first element of an array:
//
//   kma_type_of(heap, ptr) the type's number, plus KMA_TYPE_ARRAY for an array; 0: untyped
//   kma_length (heap, ptr) the number of elements; 1 for an object, 0 if untyped kma_delete (heap,
//   ptr) frees it at once; untyped memory as kma_free does
//
// Never give a typed object to kma_free or kma_realloc: the type table keeps its entry, and a later
// collection would free the next block that starts there.
//
// An object's reference fields are kma_refs: of an object, or of an array's first element. A
// collection reads them all. It never overlaps with kernels that use the heap. A field that refers
// to no object must be KMA_NULL when the kernel ends: new objects are all zero.
#ifndef KMA_COLLECT_TYPED_CL
#define KMA_COLLECT_TYPED_CL

#include "kma/kma.cl" // first: layout.cl takes kma_atomic_u32

#include "kma/collect/layout.cl"

static inline global kma_collector *kma_collector_of(global void *heap)
{
    return (global kma_collector *)kma_deref_in(heap, ((global kma_heap_header *)heap)->collector);
}

// The type table's byte of a unit.
static inline global uchar *kma_type_at(global void *heap, global kma_collector *collector,
                                        uint unit)
{
    return (global uchar *)kma_deref_in(heap, collector->table) + unit;
}

static inline uint kma_type_of(global kma_heap *heap, global const void *ptr)
{
    global kma_collector *const collector = kma_collector_of(heap);
    const size_t offset = (size_t)((global const uchar *)ptr - (global const uchar *)heap);
    if (!ptr || !collector || offset % KMA_UNIT != 0 || offset / KMA_UNIT >= collector->units)
        return 0;
    return *kma_type_at(heap, collector, (uint)(offset / KMA_UNIT));
}

// Elements of the array that begins at `elements`.
static inline uint kma_array_length(global const void *elements)
{
    return ((global const uint *)elements)[-1];
}

static inline uint kma_length(global kma_heap *heap, global const void *ptr)
{
    const uint type = kma_type_of(heap, ptr);
    return type < KMA_TYPE_ARRAY ? type != 0 : kma_array_length(ptr);
}

// The block of a typed object.
static inline global void *kma_typed_block(global void *ptr, uint type)
{
    return type < KMA_TYPE_ARRAY ? ptr : (global void *)((global uchar *)ptr - KMA_UNIT);
}

static inline void kma_delete(global kma_heap *heap, global void *ptr)
{
    const uint type = kma_type_of(heap, ptr);
    // Before the free, which releases: the memory's next owner, after its malloc, may store
    // its own type there.
    if (type != 0)
        *kma_type_at(heap, kma_collector_of(heap), kma_ref_of(heap, ptr)) = 0;
    kma_free(heap, kma_typed_block(ptr, type));
}

// Allocates memory for T_new and T_new_array: `bytes`, all zero, after `front` bytes. NULL, with a
// record, if there is none, or the heap has no collector.
static inline global uchar *kma_typed_alloc(global kma_heap *heap, uint type, uint front,
                                            ulong bytes)
{
    global kma_collector *const collector = kma_collector_of(heap);
    if (!collector) {
        kma_report((global kma_heap_header *)heap, KMA_ERROR_BAD_HEAP, KMA_NULL, 0);
        return (global uchar *)0;
    }
    global uchar *const block = (global uchar *)kma_malloc(heap, (size_t)(front + bytes));
    if (!block)
        return block;
    kma_zero_block(block, front + bytes);
    *kma_type_at(heap, collector, kma_ref_of(heap, block + front)) = (uchar)type;
    return block + front;
}

static inline global void *kma_typed_new_array(global kma_heap *heap, uint type, uint n, uint bytes)
{
    global uchar *const elements =
        kma_typed_alloc(heap, type | KMA_TYPE_ARRAY, KMA_UNIT, max((ulong)n * bytes, 1ul));
    if (elements)
        ((global uint *)elements)[-1] = n;
    return elements;
}

// What kma::Types generates after a type's struct.
#define KMA_TYPED(T, number, bytes)                                                                \
    typedef char kma_check_##T[sizeof(T) == bytes ? 1 : -1];                                       \
    static inline global T *T##_new(global kma_heap *heap)                                         \
    {                                                                                              \
        return (global T *)kma_typed_alloc(heap, number, 0, bytes);                                \
    }                                                                                              \
    static inline global T *T##_new_array(global kma_heap *heap, uint n)                           \
    {                                                                                              \
        return (global T *)kma_typed_new_array(heap, number, n, bytes);                            \
    }                                                                                              \
    static inline global T *T##_at(global kma_heap *heap, kma_ref ref)                             \
    {                                                                                              \
        return (global T *)kma_deref(heap, ref);                                                   \
    }

#endif
