// What platform/memory.cl asks of a path, made from the back end's word<T> and fence.
//
// Two forms: each operation with its order, or relaxed operations and a fence with the shipped memory_fenced.cl on top
// (KMA_SHIM_FENCED), so that exactly the fences of the OpenCL 1.2 path are under test.
#pragma once

#include "types.hpp"

#define KMA_MEMORY 0 // KMA_MEMORY_SUPPLIED

using kma_atomic_u32 = shim::word<uint>;
#if KMA_HAS_ATOMIC64
using kma_atomic_u64 = shim::word<ulong>;
#endif
#define KMA_PLAIN(T) shim::plain<T>

namespace shim {

// Function objects instead of functions, so that the caller's place in the .cl file is a default argument and ends up
// in Relacy's history. The call without an order is the relaxed one that memory_fenced.cl builds on.
template <class T, auto member, class Result, class... Values> struct operation {
    Result operator()(word<T> *at, Values... values, kma_order order, location where = location::current()) const
    {
        return (at->*member)(values..., order, where);
    }
    Result operator()(word<T> *at, Values... values, location where = location::current()) const
    {
        return (at->*member)(values..., KMA_RELAXED, where);
    }
};

} // namespace shim

inline void kma_fence(kma_order order, shim::location where = shim::location::current())
{
    shim::fence(order, where);
}

#if KMA_SHIM_FENCED
#define KMA_SHIM_NAME(operation, W) kma_raw_##operation##_##W
#else
#define KMA_SHIM_NAME(operation, W) kma_##operation##_##W
#endif
#define KMA_SHIM_OPERATION(name, W, T, ...)                                                                            \
    inline constexpr shim::operation<T, &shim::word<T>::name, __VA_ARGS__> KMA_SHIM_NAME(name, W){};
#define KMA_SHIM_WORD(W, T)                                                                                            \
    KMA_SHIM_OPERATION(load, W, T, T)                                                                                  \
    KMA_SHIM_OPERATION(store, W, T, void, T)                                                                           \
    KMA_SHIM_OPERATION(cas, W, T, T, T, T)                                                                             \
    KMA_SHIM_OPERATION(exchange, W, T, T, T)                                                                           \
    KMA_SHIM_OPERATION(fetch_add, W, T, T, T)                                                                          \
    KMA_SHIM_OPERATION(fetch_or, W, T, T, T)                                                                           \
    KMA_SHIM_OPERATION(fetch_and, W, T, T, T)

KMA_SHIM_WORD(u32, uint)
#if KMA_HAS_ATOMIC64
KMA_SHIM_WORD(u64, ulong)
#endif

#if KMA_SHIM_FENCED
#include "kma/platform/memory_fenced.cl"
#endif
