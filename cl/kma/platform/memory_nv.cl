// memory.cl's list on NVIDIA since Volta: PTX with orders at .gpu scope (PTX ISA, "Memory
// Consistency Model").
//
// OpenCL C's mem_fence compiles to membar.cta there, which orders nothing for other work-groups,
// and its atomics are relaxed. PTX has the orders themselves; ld.acquire costs far less than a load
// with a fence after it.
#ifndef KMA_PLATFORM_MEMORY_NV_CL
#define KMA_PLATFORM_MEMORY_NV_CL

typedef uint kma_order;
#define KMA_RELAXED 0u
#define KMA_ACQUIRE 1u
#define KMA_RELEASE 2u
#define KMA_ACQ_REL 3u

typedef struct kma_atomic_u32 {
    volatile uint word;
} kma_atomic_u32;

static inline void kma_fence(kma_order order)
{
    __asm__ volatile("fence.acq_rel.gpu;" ::: "memory");
    (void)order;
}

// One instruction per order: `order` is a literal at every call, and inlining leaves one of the
// four.
#define KMA_NV_RMW(W, ctype, reg, name, ptx)                                                       \
    static inline ctype kma_##name##_##W(global kma_atomic_##W *at, ctype value, kma_order order)  \
    {                                                                                              \
        ctype before;                                                                              \
        const ulong address = (ulong)&at->word;                                                    \
        if (order == KMA_RELAXED)                                                                  \
            __asm__ volatile("atom.relaxed.gpu.global." ptx " %0, [%1], %2;"                       \
                             : "=" reg(before)                                                     \
                             : "l"(address), reg(value)                                            \
                             : "memory");                                                          \
        else if (order == KMA_ACQUIRE)                                                             \
            __asm__ volatile("atom.acquire.gpu.global." ptx " %0, [%1], %2;"                       \
                             : "=" reg(before)                                                     \
                             : "l"(address), reg(value)                                            \
                             : "memory");                                                          \
        else if (order == KMA_RELEASE)                                                             \
            __asm__ volatile("atom.release.gpu.global." ptx " %0, [%1], %2;"                       \
                             : "=" reg(before)                                                     \
                             : "l"(address), reg(value)                                            \
                             : "memory");                                                          \
        else                                                                                       \
            __asm__ volatile("atom.acq_rel.gpu.global." ptx " %0, [%1], %2;"                       \
                             : "=" reg(before)                                                     \
                             : "l"(address), reg(value)                                            \
                             : "memory");                                                          \
        return before;                                                                             \
    }

#define KMA_NV_CAS(W, ctype, reg, ptx, order_ptx)                                                  \
    __asm__ volatile("atom." order_ptx ".gpu.global." ptx " %0, [%1], %2, %3;"                     \
                     : "=" reg(before)                                                             \
                     : "l"(address), reg(expected), reg(desired)                                   \
                     : "memory")

#define KMA_NV_WORD(W, ctype, reg, bits)                                                           \
    static inline ctype kma_load_##W(global kma_atomic_##W *at, kma_order order)                   \
    {                                                                                              \
        ctype value;                                                                               \
        const ulong address = (ulong)&at->word;                                                    \
        if (order == KMA_RELAXED)                                                                  \
            __asm__ volatile("ld.relaxed.gpu.global.u" bits " %0, [%1];"                           \
                             : "=" reg(value)                                                      \
                             : "l"(address)                                                        \
                             : "memory");                                                          \
        else                                                                                       \
            __asm__ volatile("ld.acquire.gpu.global.u" bits " %0, [%1];"                           \
                             : "=" reg(value)                                                      \
                             : "l"(address)                                                        \
                             : "memory");                                                          \
        return value;                                                                              \
    }                                                                                              \
    static inline void kma_store_##W(global kma_atomic_##W *at, ctype value, kma_order order)      \
    {                                                                                              \
        const ulong address = (ulong)&at->word;                                                    \
        if (order == KMA_RELAXED)                                                                  \
            __asm__ volatile("st.relaxed.gpu.global.u" bits " [%0], %1;" ::"l"(address),           \
                             reg(value)                                                            \
                             : "memory");                                                          \
        else                                                                                       \
            __asm__ volatile("st.release.gpu.global.u" bits " [%0], %1;" ::"l"(address),           \
                             reg(value)                                                            \
                             : "memory");                                                          \
    }                                                                                              \
    static inline ctype kma_cas_##W(global kma_atomic_##W *at, ctype expected, ctype desired,      \
                                    kma_order order)                                               \
    {                                                                                              \
        ctype before;                                                                              \
        const ulong address = (ulong)&at->word;                                                    \
        if (order == KMA_RELAXED)                                                                  \
            KMA_NV_CAS(W, ctype, reg, "cas.b" bits, "relaxed");                                    \
        else if (order == KMA_ACQUIRE)                                                             \
            KMA_NV_CAS(W, ctype, reg, "cas.b" bits, "acquire");                                    \
        else if (order == KMA_RELEASE)                                                             \
            KMA_NV_CAS(W, ctype, reg, "cas.b" bits, "release");                                    \
        else                                                                                       \
            KMA_NV_CAS(W, ctype, reg, "cas.b" bits, "acq_rel");                                    \
        return before;                                                                             \
    }                                                                                              \
    KMA_NV_RMW(W, ctype, reg, exchange, "exch.b" bits)                                             \
    KMA_NV_RMW(W, ctype, reg, fetch_add, "add.u" bits)                                             \
    KMA_NV_RMW(W, ctype, reg, fetch_or, "or.b" bits)                                               \
    KMA_NV_RMW(W, ctype, reg, fetch_and, "and.b" bits)

KMA_NV_WORD(u32, uint, "r", "32")

#if KMA_HAS_ATOMIC64
typedef struct kma_atomic_u64 {
    volatile ulong word;
} kma_atomic_u64;

KMA_NV_WORD(u64, ulong, "l", "64")
#endif

#define KMA_HAS_LOAD_FOUR
typedef struct kma_four_u32 {
    uint w[4];
} kma_four_u32;

static inline kma_four_u32 kma_load_four_u32(global kma_atomic_u32 *at)
{
    kma_four_u32 four;
    __asm__ volatile("ld.relaxed.gpu.global.v4.u32 {%0, %1, %2, %3}, [%4];"
                     : "=r"(four.w[0]), "=r"(four.w[1]), "=r"(four.w[2]), "=r"(four.w[3])
                     : "l"(&at->word)
                     : "memory");
    return four;
}

#endif
