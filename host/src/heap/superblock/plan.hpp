// Sizes of superblock heaps: defaults, limits, and the bytes that blocks need.
#pragma once

#include <cstdint>
#include <vector>

#include "kma/heap_options.hpp"
#include "heap/common/layout.hpp"

namespace kma::superblock_plan {

/// options.superblock.bytes or, if that is 0, the default for a heap that begins with `heap_bytes`
/// bytes. Throws Error if the size is impossible.
std::uint64_t superblock_bytes(const HeapOptions &options, std::uint64_t heap_bytes);

std::uint32_t shift_of(std::uint64_t superblock_bytes) noexcept;

/// The plan of a heap that begins with `heap_bytes` bytes, with superblocks of this size; equal to
/// the device's. `options` as given by the user. Throws Error if the metadata and one superblock do
/// not fit.
layout::kma_superblock_plan plan(const HeapOptions &options, std::uint64_t heap_bytes,
                         std::uint64_t superblock_bytes);

/// Throws Error if 32-bit atomics cannot number the superblocks that the heap has or may grow to.
void check_for_32_bits(const HeapOptions &options, std::uint64_t heap_bytes,
                       std::uint64_t superblock_bytes);

/// As Heap::bytes_for.
std::uint64_t bytes_for_payload(const HeapOptions &options, std::uint64_t payload);
std::uint64_t bytes_for_blocks(const HeapOptions &options, const std::vector<BlockDemand> &blocks);

} // namespace kma::superblock_plan
