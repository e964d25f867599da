// Sizes of slab heaps: limits, and the bytes that blocks need.
#pragma once

#include <cstdint>
#include <vector>

#include "kma/device.hpp"
#include "kma/heap_options.hpp"
#include "heap/common/layout.hpp"

namespace kma::slab_plan {

/// The number of cursors for a device: the divisor of its compute units that is nearest to the
/// default. Equally many compute units then share each cursor.
std::uint32_t cursors_for(std::uint32_t compute_units) noexcept;

/// The plan of a heap of `heap_bytes` bytes, equal to the device's. Throws Error if the metadata
/// and one frame do not fit.
layout::kma_slab_plan plan(const HeapOptions &options, std::uint64_t heap_bytes,
                           std::uint32_t cursors);

/// As Heap::bytes_for.
std::uint64_t bytes_for_payload(const HeapOptions &options, std::uint64_t payload);
std::uint64_t bytes_for_blocks(const HeapOptions &options, const std::vector<BlockDemand> &blocks);

} // namespace kma::slab_plan
