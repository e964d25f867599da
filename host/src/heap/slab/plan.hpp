// Sizes of slab heaps: what is refused, and how many bytes blocks need.
#pragma once

#include <cstdint>
#include <vector>

#include "kma/device.hpp"
#include "kma/heap_options.hpp"
#include "heap/common/layout.hpp"

namespace kma::slab_plan {

/// How many cursors suit a device: the divisor of its compute units that is nearest to the usual
/// number, so that each is drawn from by equally many.
std::uint32_t cursors_for(std::uint32_t compute_units) noexcept;

/// Where everything is in a heap of so many bytes; the same on the device. Throws Error if there is
/// no room for metadata and one frame.
layout::kma_slab_plan plan(const HeapOptions &options, std::uint64_t heap_bytes,
                           std::uint32_t cursors);

/// As Heap::bytes_for.
std::uint64_t bytes_for_payload(const HeapOptions &options, std::uint64_t payload);
std::uint64_t bytes_for_blocks(const HeapOptions &options, const std::vector<BlockDemand> &blocks);

} // namespace kma::slab_plan
