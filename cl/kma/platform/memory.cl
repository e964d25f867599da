// Shared words: the atomics and fences that every lock-free structure of kma goes through. Device
// scope.
//
// A word that several work-items touch at once is a kma_atomic_u32 or kma_atomic_u64. These are
// structs, so that a plain access does not compile and a host shim can put std::atomic or Relacy's
// atomic in their place.
//
//   ctype  kma_load_W     (word, order)                     order: KMA_RELAXED, KMA_ACQUIRE
//   void   kma_store_W    (word, value, order)              order: KMA_RELAXED, KMA_RELEASE
//   ctype  kma_exchange_W (word, value, order)              all four orders; the value before
//   ctype  kma_cas_W      (word, expected, desired, order)  the value before: it was stored iff that == expected.
//                                                           A failed one still acquires if `order`
//                                                           does.
//   ctype  kma_fetch_add_W, kma_fetch_or_W, kma_fetch_and_W (word, value, order)   the value before
//   void   kma_fence      (order)                           KMA_ACQUIRE, KMA_RELEASE, KMA_ACQ_REL
//
// with W = u32 or u64 (u64 only if KMA_HAS_ATOMIC64). The orders mean what they mean in C11, at
// device scope: what is written before a release is seen by any work-item of the device that reads
// the released value with acquire. `order` is always a literal, so that each call folds to one
// instruction or two.
//
// Every path must supply the list above. memory_fenced.cl makes it from relaxed operations and a
// fence.
#ifndef KMA_PLATFORM_MEMORY_CL
#define KMA_PLATFORM_MEMORY_CL

#include "kma/platform/target.cl"

// A field that is not shared at the moment it is touched: written before it is published, or its
// owner's alone. The tests' host shim checks that for races.
#ifndef KMA_PLAIN
#define KMA_PLAIN(T) T
#endif

#if KMA_MEMORY == KMA_MEMORY_C11
#include "kma/platform/memory_c11.cl"
#elif KMA_MEMORY == KMA_MEMORY_NV
#include "kma/platform/memory_nv.cl"
#elif KMA_MEMORY == KMA_MEMORY_CL12
#include "kma/platform/memory_cl12.cl"
#include "kma/platform/memory_fenced.cl"
#elif KMA_MEMORY != KMA_MEMORY_SUPPLIED
#error "no such KMA_MEMORY: platform/target.cl lists them, and chooses one if you do not"
#endif

// Four words side by side, aligned to 16 bytes; relaxed, each for itself.
#ifndef KMA_HAS_LOAD_FOUR
typedef struct kma_four_u32 {
    uint w[4];
} kma_four_u32;

static inline kma_four_u32 kma_load_four_u32(global kma_atomic_u32 *at)
{
    kma_four_u32 four;
    for (uint i = 0; i < 4; i++)
        four.w[i] = kma_load_u32(&at[i], KMA_RELAXED);
    return four;
}
#endif

#endif
