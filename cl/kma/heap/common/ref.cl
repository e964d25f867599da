// kma_ref: an address in a heap as a 32-bit number that means the same on the device, on the host,
// and after a copy of the heap. It is the offset from the heap's start in units of 16 bytes; 0 is
// null.
//
// A work-item may follow another's ref only if that was published with release and read with
// acquire. OpenCL C's own fences do not guarantee this on every device; these operations do:
//
//   kma_ref kma_ref_load_acquire (at)       afterwards the memory that the ref names may be read
//   void    kma_ref_store_release(at, ref)  after the memory that `ref` names was written
//   kma_ref kma_ref_cas          (at, expected, desired)  acquire and release; returns the value
//                                           before, and stores iff that equals `expected`
//   void    kma_ref_init         (at, ref)  relaxed; before other lanes know `at`
#ifndef KMA_HEAP_COMMON_REF_CL
#define KMA_HEAP_COMMON_REF_CL

#include "kma/platform/memory.cl"
#include "kma/heap/common/header.cl"

typedef uint kma_ref;
typedef kma_atomic_u32 kma_atomic_ref;
#define KMA_NULL 0u

// Returns the ref of `place`, which is 0 or a 16-byte-aligned address in the heap at `heap`.
static inline kma_ref kma_ref_in(global void *heap, global void *place)
{
    return place ? (kma_ref)((size_t)((global uchar *)place - (global uchar *)heap) / KMA_UNIT)
                 : KMA_NULL;
}

static inline global void *kma_deref_in(global void *heap, kma_ref ref)
{
    return ref != KMA_NULL ? (global void *)((global uchar *)heap + (size_t)ref * KMA_UNIT)
                           : (global void *)0;
}

static inline kma_ref kma_ref_load_acquire(global kma_atomic_ref *at)
{
    return kma_load_u32(at, KMA_ACQUIRE);
}

static inline void kma_ref_store_release(global kma_atomic_ref *at, kma_ref ref)
{
    kma_store_u32(at, ref, KMA_RELEASE);
}

static inline kma_ref kma_ref_cas(global kma_atomic_ref *at, kma_ref expected, kma_ref desired)
{
    return kma_cas_u32(at, expected, desired, KMA_ACQ_REL);
}

static inline void kma_ref_init(global kma_atomic_ref *at, kma_ref ref)
{
    kma_store_u32(at, ref, KMA_RELAXED);
}

#endif
