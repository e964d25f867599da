// The words of OpenCL C that the device files use, as C++20: address spaces and built-in functions. Comes after every
// header of the standard library and of Relacy, whose names these macros would change.
#pragma once

#include "types.hpp"

// `private` stays C++'s own: the device files do not write it.
#define global
#define local
#define constant const
#define kernel inline

struct uint2 {
    uint x, y;
};

// Only moved in whole units of the heap.
struct alignas(16) uint4 {
    uint x, y, z, w;
    uint4() = default;
    constexpr explicit uint4(uint value) : x(value), y(value), z(value), w(value) {}
};

inline size_t get_global_id(uint dimension)
{
    return dimension == 0 ? shim::self().id : 0;
}

inline size_t get_global_size(uint dimension)
{
    return dimension == 0 ? shim::work_items : 1;
}

// platform/place.cl: so many work-items in a row are in one place.
namespace shim {
inline uint place_items = 4;
}
#define KMA_PLACE_SUPPLIED
inline uint kma_place()
{
    return static_cast<uint>(shim::self().id / shim::place_items);
}

template <class T> constexpr T min(T a, T b)
{
    return a < b ? a : b;
}

template <class T> constexpr T max(T a, T b)
{
    return a < b ? b : a;
}

template <class T> constexpr T clamp(T value, T low, T high)
{
    return min(max(value, low), high);
}

template <class T> constexpr T popcount(T bits)
{
    return static_cast<T>(std::popcount(bits));
}

template <class T> constexpr T clz(T bits)
{
    return static_cast<T>(std::countl_zero(bits));
}

template <class T> constexpr T add_sat(T a, T b)
{
    static_assert(std::is_unsigned_v<T>);
    const T sum = static_cast<T>(a + b);
    return sum < a ? std::numeric_limits<T>::max() : sum;
}

template <class T> constexpr T mul_hi(T a, T b)
{
    static_assert(std::is_same_v<T, uint>);
    return static_cast<T>(ulong{a} * b >> 32);
}

// Relacy's words are larger than a device's.
#define KMA_SUPERBLOCK_QUEUE_BYTES sizeof(kma_queue)
#define KMA_SUPERBLOCK_NODE_BYTES sizeof(kma_queue_node)
