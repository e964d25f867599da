// What array lists are made with, from ArrayListOptions: also the bundles of work queues.
#pragma once

#include <cstdint>
#include <vector>

#include "kma/array_list.hpp"

namespace kma::array_list_sizes {

/// Throws Error where no list can be made with these.
void check(std::uint32_t object_bytes, const ArrayListOptions &options);

/// Objects of the first block.
std::uint32_t objects(std::uint32_t object_bytes, const ArrayListOptions &options);

/// Objects of the longest blocks, in this heap.
std::uint32_t most(const Heap &heap, std::uint32_t object_bytes, const ArrayListOptions &options);

/// The list, its blocks and pages, and blocks that are brought ahead: as ArrayList::blocks_for.
std::vector<BlockDemand> blocks(std::uint64_t objects, std::uint32_t object_bytes,
                                const ArrayListOptions &options);

} // namespace kma::array_list_sizes
