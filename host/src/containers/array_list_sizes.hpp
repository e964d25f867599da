// The sizes of array lists, also those of work queues, from ArrayListOptions.
#pragma once

#include <cstdint>
#include <vector>

#include "kma/array_list.hpp"

namespace kma::array_list_sizes {

/// Throws Error for impossible sizes.
void check(std::uint32_t object_bytes, const ArrayListOptions &options);

/// Objects in the first block.
std::uint32_t objects(std::uint32_t object_bytes, const ArrayListOptions &options);

/// Objects in the longest blocks of a list in this heap.
std::uint32_t most(const Heap &heap, std::uint32_t object_bytes, const ArrayListOptions &options);

/// As ArrayList::blocks_for: the list, its blocks and pages, and blocks allocated ahead.
std::vector<BlockDemand> blocks(std::uint64_t objects, std::uint32_t object_bytes,
                                const ArrayListOptions &options);

} // namespace kma::array_list_sizes
