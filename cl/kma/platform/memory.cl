// Shared words: the atomics and fences, at device scope, that every lock-free structure of kma
// uses.
//
// A word that several work-items access at once is a kma_atomic_u32 or kma_atomic_u64. These are
// structs: a plain access does not compile, and a host shim can put std::atomic or Relacy's atomic
// in their place.
//
//   ctype  kma_load_W     (word, order)                     order: KMA_RELAXED, KMA_ACQUIRE
//   void   kma_store_W    (word, value, order)              order: KMA_RELAXED, KMA_RELEASE
//   ctype  kma_exchange_W (word, value, order)              all four orders; the value before
//   ctype  kma_cas_W      (word, expected, desired, order)  the value before; stores iff that
//                                                           equals `expected`. A failed one also
//                                                           acquires if `order` does.
//   ctype  kma_fetch_add_W, kma_fetch_or_W, kma_fetch_and_W (word, value, order)  the value before
//   void   kma_fence      (order)                           KMA_ACQUIRE, KMA_RELEASE, KMA_ACQ_REL
//
// W is u32 or u64 (u64 only if KMA_HAS_ATOMIC64). The orders are those of C11, at device scope:
// writes before a release are visible to any work-item of the device that reads the released value
// with acquire. `order` is always a literal, and each call folds to one instruction or two.
//
// Every path supplies this list. memory_fenced.cl builds it from relaxed operations and a fence.
#ifndef KMA_PLATFORM_MEMORY_CL
#define KMA_PLATFORM_MEMORY_CL

#include "kma/platform/target.cl"

// A field that is not shared when it is accessed: written before it is published, or owned by one
// work-item. The tests' host shim checks such fields for races.
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

// Loads four words side by side, aligned to 16 bytes. Each is relaxed by itself.
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
