// Sizes of superblock heaps: what is chosen, what is refused, and how many bytes blocks need.
#pragma once

#include <cstdint>
#include <vector>

#include "kma/heap_options.hpp"
#include "heap/common/layout.hpp"

namespace kma::superblock_plan {

/// options.superblock_bytes, or what a heap that begins with `heap_bytes` gets where that is 0.
/// Throws Error if it is no size for superblocks.
std::uint64_t superblock_bytes(const HeapOptions &options, std::uint64_t heap_bytes);

std::uint32_t shift_of(std::uint64_t superblock_bytes) noexcept;

/// Where everything is in a heap that begins with so many bytes and superblocks of that size; the
/// same on the device. `options` as the user gave them. Throws Error if there is no room for
/// metadata and one superblock.
layout::kma_superblock_plan plan(const HeapOptions &options, std::uint64_t heap_bytes,
                         std::uint64_t superblock_bytes);

/// Throws Error if 32-bit atomics cannot number the superblocks that such a heap has room for, or
/// may get.
void check_for_32_bits(const HeapOptions &options, std::uint64_t heap_bytes,
                       std::uint64_t superblock_bytes);

/// As Heap::bytes_for.
std::uint64_t bytes_for_payload(const HeapOptions &options, std::uint64_t payload);
std::uint64_t bytes_for_blocks(const HeapOptions &options, const std::vector<BlockDemand> &blocks);

} // namespace kma::superblock_plan
