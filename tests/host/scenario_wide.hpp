// The superblock heap with superblocks whose bitmaps have more than one word: what one word does not order must be
// ordered by the rest, and a search passes from word to word. 42 blocks of 3 units leave the second word part empty.
#pragma once

#include "superblock_threads.hpp"

inline constexpr heap_shape wide_shapes[] = {
    {6, 1, 40, 2, {1, 64}}, {6, 1, 64, 2, {1, 64}}, {6, 2, 36, 2, {1, 64}}, {7, 1, 42, 2, {3, 128}}, {7, 1, 38, 1, {3}},
};

template <uint threads> class scenario : public superblock_threads<threads, wide_shapes> {
};
