// memory.cl's list built from relaxed operations and one fence: a release is a fence before, an
// acquire a fence after.
//
// A path supplies kma_raw_load_W, kma_raw_store_W, kma_raw_exchange_W, kma_raw_cas_W,
// kma_raw_fetch_{add,or,and}_W (all relaxed) and kma_fence. This file puts the fences where C11's
// rules for fences (7.17.4) need them. The host shim uses it, too: Relacy explores exactly this
// placement.
#ifndef KMA_PLATFORM_MEMORY_FENCED_CL
#define KMA_PLATFORM_MEMORY_FENCED_CL

static inline void kma_fence_before(kma_order order)
{
    if (order & KMA_RELEASE)
        kma_fence(KMA_RELEASE);
}

static inline void kma_fence_after(kma_order order)
{
    if (order & KMA_ACQUIRE)
        kma_fence(KMA_ACQUIRE);
}

#define KMA_FENCED_RMW(W, ctype, name)                                                             \
    static inline ctype kma_##name##_##W(global kma_atomic_##W *at, ctype value, kma_order order)  \
    {                                                                                              \
        kma_fence_before(order);                                                                   \
        const ctype before = kma_raw_##name##_##W(at, value);                                      \
        kma_fence_after(order);                                                                    \
        return before;                                                                             \
    }

#define KMA_FENCED_WORD(W, ctype)                                                                  \
    static inline ctype kma_load_##W(global kma_atomic_##W *at, kma_order order)                   \
    {                                                                                              \
        const ctype value = kma_raw_load_##W(at);                                                  \
        kma_fence_after(order);                                                                    \
        return value;                                                                              \
    }                                                                                              \
    static inline void kma_store_##W(global kma_atomic_##W *at, ctype value, kma_order order)      \
    {                                                                                              \
        kma_fence_before(order);                                                                   \
        kma_raw_store_##W(at, value);                                                              \
    }                                                                                              \
    static inline ctype kma_cas_##W(global kma_atomic_##W *at, ctype expected, ctype desired,      \
                                    kma_order order)                                               \
    {                                                                                              \
        kma_fence_before(order);                                                                   \
        const ctype before = kma_raw_cas_##W(at, expected, desired);                               \
        kma_fence_after(order);                                                                    \
        return before;                                                                             \
    }                                                                                              \
    KMA_FENCED_RMW(W, ctype, exchange)                                                             \
    KMA_FENCED_RMW(W, ctype, fetch_add)                                                            \
    KMA_FENCED_RMW(W, ctype, fetch_or)                                                             \
    KMA_FENCED_RMW(W, ctype, fetch_and)

KMA_FENCED_WORD(u32, uint)
#if KMA_HAS_ATOMIC64
KMA_FENCED_WORD(u64, ulong)
#endif

#endif
