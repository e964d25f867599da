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
template <class T> struct load_operation {
    T operator()(word<T> *at, kma_order order, location where = location::current()) const
    {
        return at->load(order, where);
    }
    T operator()(word<T> *at, location where = location::current()) const { return at->load(KMA_RELAXED, where); }
};

template <class T> struct store_operation {
    void operator()(word<T> *at, T value, kma_order order, location where = location::current()) const
    {
        at->store(value, order, where);
    }
    void operator()(word<T> *at, T value, location where = location::current()) const
    {
        at->store(value, KMA_RELAXED, where);
    }
};

template <class T> struct cas_operation {
    T operator()(word<T> *at, T expected, T desired, kma_order order, location where = location::current()) const
    {
        return at->cas(expected, desired, order, where);
    }
    T operator()(word<T> *at, T expected, T desired, location where = location::current()) const
    {
        return at->cas(expected, desired, KMA_RELAXED, where);
    }
};

template <class T, T (word<T>::*member)(T, kma_order, location)> struct rmw_operation {
    T operator()(word<T> *at, T value, kma_order order, location where = location::current()) const
    {
        return (at->*member)(value, order, where);
    }
    T operator()(word<T> *at, T value, location where = location::current()) const
    {
        return (at->*member)(value, KMA_RELAXED, where);
    }
};

template <class T> using exchange_operation = rmw_operation<T, &word<T>::exchange>;
template <class T> using fetch_add_operation = rmw_operation<T, &word<T>::fetch_add>;
template <class T> using fetch_or_operation = rmw_operation<T, &word<T>::fetch_or>;
template <class T> using fetch_and_operation = rmw_operation<T, &word<T>::fetch_and>;

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
#define KMA_SHIM_WORD(W, T)                                                                                            \
    inline constexpr shim::load_operation<T> KMA_SHIM_NAME(load, W){};                                                 \
    inline constexpr shim::store_operation<T> KMA_SHIM_NAME(store, W){};                                               \
    inline constexpr shim::cas_operation<T> KMA_SHIM_NAME(cas, W){};                                                   \
    inline constexpr shim::exchange_operation<T> KMA_SHIM_NAME(exchange, W){};                                         \
    inline constexpr shim::fetch_add_operation<T> KMA_SHIM_NAME(fetch_add, W){};                                       \
    inline constexpr shim::fetch_or_operation<T> KMA_SHIM_NAME(fetch_or, W){};                                         \
    inline constexpr shim::fetch_and_operation<T> KMA_SHIM_NAME(fetch_and, W){};

KMA_SHIM_WORD(u32, uint)
#if KMA_HAS_ATOMIC64
KMA_SHIM_WORD(u64, ulong)
#endif

#if KMA_SHIM_FENCED
#include "kma/platform/memory_fenced.cl"
#endif
