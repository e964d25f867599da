// The superblock heap: a few superblocks of two or four units.
#pragma once

#include "superblock_threads.hpp"

// An offer of 32 bits has shift + 1 of them for drawn, up to slots + 2: from four units on.
inline constexpr uint smallest_shift = KMA_HAS_ATOMIC64 ? 1 : 2;

inline constexpr heap_shape small_shapes[] = {
    {2, 2, 0, 0, 2, {1, 4}}, {2, 2, 0, 0, 1, {1}},    {2, 3, 0, 0, 4, {1, 2, 3, 4}},
    {2, 2, 0, 0, 1, {4}},    {2, 1, 0, 0, 2, {1, 2}}, {smallest_shift, 3, 0, 0, 2, {1, 2}},
    {2, 2, 0, 0, 2, {2, 3}}, {2, 0, 0, 0, 1, {2}},    {2, 1, 0, 0, 2, {4, 1}},
};

template <uint threads> class scenario : public superblock_threads<threads, small_shapes> {
};
