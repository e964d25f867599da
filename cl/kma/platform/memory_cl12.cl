// Relaxed words and the fence for OpenCL C 1.2, which has neither orders nor scopes.
// memory_fenced.cl builds on this file.
//
// Loads and stores are volatile: PoCL hoists a plain read out of a loop. 1.2's atomics are relaxed.
#ifndef KMA_PLATFORM_MEMORY_CL12_CL
#define KMA_PLATFORM_MEMORY_CL12_CL

typedef uint kma_order;
#define KMA_RELAXED 0u
#define KMA_ACQUIRE 1u
#define KMA_RELEASE 2u
#define KMA_ACQ_REL 3u

typedef struct kma_atomic_u32 {
    volatile uint word;
} kma_atomic_u32;

// 1.2's mem_fence orders "within a work-item"; whether other work-groups observe that order is up
// to the compiler.
// - NVIDIA's orders nothing for them: PTX's own instruction, for GPUs before Volta.
// - Compilers made from clang: clang's built-in is a true device-wide fence.
// - Other compilers: mem_fence, the strongest that 1.2 has.
static inline void kma_fence(kma_order order)
{
#if KMA_IS_NV
    __asm__ volatile("membar.gl;" ::: "memory");
#elif defined(__clang__) && !defined(__SPIR__) && !defined(__SPIRV__) &&                           \
    !defined(KMA_NO_CLANG_FENCE)
    __atomic_thread_fence(__ATOMIC_ACQ_REL);
#else
    mem_fence(CLK_GLOBAL_MEM_FENCE);
#endif
    (void)order;
}

// 1.2 names the 32-bit atomics atomic_…; the 64-bit extension names them atom_….
#define KMA_CL12_WORD(W, ctype, prefix)                                                            \
    static inline ctype kma_raw_load_##W(global kma_atomic_##W *at)                                \
    {                                                                                              \
        return at->word;                                                                           \
    }                                                                                              \
    static inline void kma_raw_store_##W(global kma_atomic_##W *at, ctype value)                   \
    {                                                                                              \
        at->word = value;                                                                          \
    }                                                                                              \
    static inline ctype kma_raw_exchange_##W(global kma_atomic_##W *at, ctype value)               \
    {                                                                                              \
        return prefix##_xchg(&at->word, value);                                                    \
    }                                                                                              \
    static inline ctype kma_raw_cas_##W(global kma_atomic_##W *at, ctype expected, ctype desired)  \
    {                                                                                              \
        return prefix##_cmpxchg(&at->word, expected, desired);                                     \
    }                                                                                              \
    static inline ctype kma_raw_fetch_add_##W(global kma_atomic_##W *at, ctype value)              \
    {                                                                                              \
        return prefix##_add(&at->word, value);                                                     \
    }                                                                                              \
    static inline ctype kma_raw_fetch_or_##W(global kma_atomic_##W *at, ctype value)               \
    {                                                                                              \
        return prefix##_or(&at->word, value);                                                      \
    }                                                                                              \
    static inline ctype kma_raw_fetch_and_##W(global kma_atomic_##W *at, ctype value)              \
    {                                                                                              \
        return prefix##_and(&at->word, value);                                                     \
    }

KMA_CL12_WORD(u32, uint, atomic)

#if KMA_HAS_ATOMIC64
typedef struct kma_atomic_u64 {
    volatile ulong word;
} kma_atomic_u64;

KMA_CL12_WORD(u64, ulong, atom)
#endif

#endif
