// Sizes of scatter heaps: defaults, limits, and the bytes that blocks need.
#pragma once

#include <cstdint>
#include <vector>

#include "kma/heap_options.hpp"
#include "heap/common/layout.hpp"

namespace kma::scatter_plan {

/// The options with the default sizes of pages and regions where they are 0. Throws Error for
/// impossible sizes.
HeapOptions completed(const HeapOptions &options);

/// Of completed options: log2 of a page's units, and of a region's pages.
std::uint32_t shift_of(const HeapOptions &options) noexcept;
std::uint32_t super_shift_of(const HeapOptions &options) noexcept;

/// The plan of a heap of `heap_bytes` bytes, equal to the device's. Throws Error if the metadata
/// and one page do not fit.
layout::kma_scatter_plan plan(const HeapOptions &options, std::uint64_t heap_bytes);

/// As Heap::bytes_for.
std::uint64_t bytes_for_payload(const HeapOptions &options, std::uint64_t payload);
std::uint64_t bytes_for_blocks(const HeapOptions &options, const std::vector<BlockDemand> &blocks);

} // namespace kma::scatter_plan
