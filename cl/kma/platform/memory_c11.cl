// memory.cl's list on OpenCL C 2.0 and 3.0: C11 atomics, memory_scope_device.
#ifndef KMA_PLATFORM_MEMORY_C11_CL
#define KMA_PLATFORM_MEMORY_C11_CL

typedef memory_order kma_order;
#define KMA_RELAXED memory_order_relaxed
#define KMA_ACQUIRE memory_order_acquire
#define KMA_RELEASE memory_order_release
#define KMA_ACQ_REL memory_order_acq_rel

typedef struct kma_atomic_u32 {
    atomic_uint word;
} kma_atomic_u32;

static inline void kma_fence(kma_order order)
{
    atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE, order, memory_scope_device);
}

// C11 allows no release for the failure of a compare-and-swap.
static inline kma_order kma_order_of_failure(kma_order order)
{
    return order == KMA_ACQ_REL || order == KMA_ACQUIRE ? KMA_ACQUIRE : KMA_RELAXED;
}

#define KMA_C11_FETCH(W, ctype, op)                                                                \
    static inline ctype kma_fetch_##op##_##W(global kma_atomic_##W *at, ctype value,               \
                                             kma_order order)                                      \
    {                                                                                              \
        return atomic_fetch_##op##_explicit(&at->word, value, order, memory_scope_device);         \
    }

#define KMA_C11_WORD(W, ctype)                                                                     \
    static inline ctype kma_load_##W(global kma_atomic_##W *at, kma_order order)                   \
    {                                                                                              \
        return atomic_load_explicit(&at->word, order, memory_scope_device);                        \
    }                                                                                              \
    static inline void kma_store_##W(global kma_atomic_##W *at, ctype value, kma_order order)      \
    {                                                                                              \
        atomic_store_explicit(&at->word, value, order, memory_scope_device);                       \
    }                                                                                              \
    static inline ctype kma_exchange_##W(global kma_atomic_##W *at, ctype value, kma_order order)  \
    {                                                                                              \
        return atomic_exchange_explicit(&at->word, value, order, memory_scope_device);             \
    }                                                                                              \
    static inline ctype kma_cas_##W(global kma_atomic_##W *at, ctype expected, ctype desired,      \
                                    kma_order order)                                               \
    {                                                                                              \
        atomic_compare_exchange_strong_explicit(&at->word, &expected, desired, order,              \
                                                kma_order_of_failure(order), memory_scope_device); \
        return expected;                                                                           \
    }                                                                                              \
    KMA_C11_FETCH(W, ctype, add)                                                                   \
    KMA_C11_FETCH(W, ctype, or)                                                                    \
    KMA_C11_FETCH(W, ctype, and)

KMA_C11_WORD(u32, uint)

#if KMA_HAS_ATOMIC64
typedef struct kma_atomic_u64 {
    atomic_ulong word;
} kma_atomic_u64;

KMA_C11_WORD(u64, ulong)
#endif

#endif
