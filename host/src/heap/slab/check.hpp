// The metadata of a slab heap on the host: which blocks there are, and what must hold at rest.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "heap/common/findings.hpp"
#include "heap/common/layout.hpp"

namespace kma {

/// The metadata of a slab heap, copied from it.
struct SlabMetadata {
    std::vector<std::uint32_t> current; ///< lines, by size class and shard
    std::vector<std::uint32_t> used;    ///< of each frame
    std::vector<std::uint32_t> trees;
    std::vector<std::uint32_t> words; ///< of each line
};

/// Visits each block: its first unit behind the heap's begin, its units. Damaged slabs are passed
/// over.
void for_each_slab_block(const layout::kma_slab_plan &plan, const SlabMetadata &metadata,
                         const std::function<void(std::uint32_t unit, std::uint32_t units)> &visit);

/// Names each broken invariant.
void check_slab(const layout::kma_slab_plan &plan, const SlabMetadata &metadata,
                Findings &findings);

} // namespace kma
