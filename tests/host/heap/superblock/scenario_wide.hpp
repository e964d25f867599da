// The superblock heap with superblocks whose bitmaps have more than one word: what one word does not order must be
// ordered by the rest, and a search for one of a few free blocks passes from word to word. 42 blocks of 3 units leave
// the second word part empty.
#pragma once

#include "heap/superblock/heap.hpp"
#include "heap/scenario_heap.hpp"

inline constexpr heap_shape wide_shapes[] = {
    {6, 1, 40, 0, 2, {1, 64}},  {6, 1, 64, 0, 2, {1, 64}}, {6, 2, 36, 0, 2, {1, 64}},
    {7, 1, 42, 0, 2, {3, 128}}, {7, 1, 42, 34, 1, {3}},    {6, 1, 64, 56, 1, {1}},
};

template <uint threads> class scenario : public heap_threads<superblock_kind, threads, wide_shapes> {
};
