// Sizes of scatter heaps: what is chosen, what is refused, and how many bytes blocks need.
#pragma once

#include <cstdint>
#include <vector>

#include "kma/heap_options.hpp"
#include "heap/common/layout.hpp"

namespace kma::scatter_plan {

/// The options with the sizes of pages and super blocks that a heap gets where they are 0. Throws
/// Error for impossible ones.
HeapOptions completed(const HeapOptions &options);

/// Of completed options: log2 of a page's units, and of a super block's pages.
std::uint32_t shift_of(const HeapOptions &options) noexcept;
std::uint32_t super_shift_of(const HeapOptions &options) noexcept;

/// Where everything is in a heap of so many bytes; the same on the device. Throws Error if there is
/// no room for metadata and one page.
layout::kma_scatter_plan plan(const HeapOptions &options, std::uint64_t heap_bytes);

/// As Heap::bytes_for.
std::uint64_t bytes_for_payload(const HeapOptions &options, std::uint64_t payload);
std::uint64_t bytes_for_blocks(const HeapOptions &options, const std::vector<BlockDemand> &blocks);

} // namespace kma::scatter_plan
