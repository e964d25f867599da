// Reads a slab heap's metadata on the host: finds blocks, and checks the invariants of a heap at
// rest.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "heap/common/findings.hpp"
#include "heap/common/layout.hpp"

namespace kma {

/// The metadata of a slab heap, copied from it.
struct SlabMetadata {
    std::vector<std::uint32_t> current; ///< current lines, by size class and shard
    std::vector<std::uint32_t> used;    ///< one word for each frame
    std::vector<std::uint32_t> trees;
    std::vector<std::uint32_t> words; ///< one word for each line
};

/// Visits each block with its first unit, counted from the heap's start, and its number of units.
/// Skips damaged slabs.
void for_each_slab_block(const layout::kma_slab_plan &plan, const SlabMetadata &metadata,
                         const std::function<void(std::uint32_t unit, std::uint32_t units)> &visit);

/// Reports each broken invariant.
void check_slab(const layout::kma_slab_plan &plan, const SlabMetadata &metadata,
                Findings &findings);

} // namespace kma
