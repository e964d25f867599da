// What the copies of mutants/generate.py call in the place of read-modify-writes and bounds: the same, unless the
// mutant with that number is awake. Comes after memory.hpp.
#pragma once

#include "mutant.hpp"

namespace shim {

template <class T> using plain_of = std::type_identity_t<T>;

#define KMA_SHIM_OF_WIDTH(operation, ...)                                                                              \
    if constexpr (sizeof(T) == sizeof(ulong))                                                                          \
        return kma_##operation##_u64(__VA_ARGS__);                                                                     \
    else                                                                                                               \
        return kma_##operation##_u32(__VA_ARGS__)

template <class T> T load_of(word<T> *at, kma_order order)
{
    KMA_SHIM_OF_WIDTH(load, at, order & KMA_ACQUIRE);
}

template <class T> void store_of(word<T> *at, plain_of<T> value, kma_order order)
{
    KMA_SHIM_OF_WIDTH(store, at, value, order & KMA_RELEASE);
}

// A store, whatever stands there.
template <uint number, class T> T split_cas(word<T> *at, plain_of<T> expected, plain_of<T> desired, kma_order order)
{
    if (is(number)) {
        store_of(at, desired, order);
        return expected;
    }
    KMA_SHIM_OF_WIDTH(cas, at, expected, desired, order);
}

// A load and a store, between which another may write.
#define KMA_SHIM_SPLIT(operation, result)                                                                              \
    template <uint number, class T> T split_##operation(word<T> *at, plain_of<T> value, kma_order order)               \
    {                                                                                                                  \
        if (is(number)) {                                                                                              \
            const T before = load_of(at, order);                                                                       \
            store_of(at, static_cast<T>(result), order);                                                               \
            return before;                                                                                             \
        }                                                                                                              \
        KMA_SHIM_OF_WIDTH(operation, at, value, order);                                                                \
    }

KMA_SHIM_SPLIT(exchange, value)
KMA_SHIM_SPLIT(fetch_add, before + value)
KMA_SHIM_SPLIT(fetch_or, before | value)
KMA_SHIM_SPLIT(fetch_and, before &value)

template <uint first, uint second, class T> T unbounded_min(T a, T b)
{
    return is(first) ? a : is(second) ? b : min(a, b);
}

template <uint first, uint second, class T> T unbounded_max(T a, T b)
{
    return is(first) ? a : is(second) ? b : max(a, b);
}

template <uint low_gone, uint high_gone, class T> T unbounded_clamp(T value, T low, T high)
{
    return is(low_gone) ? min(value, high) : is(high_gone) ? max(value, low) : clamp(value, low, high);
}

template <uint wraps, class T> T unbounded_add_sat(T a, T b)
{
    return is(wraps) ? static_cast<T>(a + b) : add_sat(a, b);
}

} // namespace shim
