// The superblock heap: a few superblocks of two or four units.
#pragma once

#include "superblock_threads.hpp"

inline constexpr heap_shape small_shapes[] = {
    {2, 2, 0, 2, {1, 4}}, {2, 2, 0, 1, {1}},    {2, 3, 0, 4, {1, 2, 3, 4}}, {2, 2, 0, 1, {4}},    {2, 1, 0, 2, {1, 2}},
    {1, 3, 0, 2, {1, 2}}, {2, 2, 0, 2, {2, 3}}, {2, 0, 0, 1, {2}},          {2, 1, 0, 2, {4, 1}},
};

template <uint threads> class scenario : public superblock_threads<threads, small_shapes> {
};
