// Checks the invariants of a superblock heap at rest.
#pragma once

#include <cstdint>
#include <vector>

#include "heap/common/findings.hpp"
#include "heap/common/layout.hpp"

namespace kma {

/// The metadata as the census kernels decode them, without constants, the bits of single blocks,
/// and search hints, for which every value is valid.
struct SuperblockCensus {
    bool atomic64;         ///< whether the heap's kernels use 64-bit atomics
    std::uint32_t in_hand; ///< superblocks in hand
    std::vector<layout::kma_superblock_census> superblocks;
    std::vector<layout::kma_superblock_class_census> classes;
    /// one entry for each node, and the last for the queue itself
    std::vector<layout::kma_queue_census> queue;
    std::vector<std::uint32_t> sets;             ///< bits of the partial sets, by class
};

/// Reports each broken invariant. cl/kma/heap/superblock/credit.cl, superblock/offer.cl,
/// superblock/slots.cl and cl/kma/lockfree/ describe them.
void check_superblocks(const layout::kma_superblock_plan &plan, const SuperblockCensus &census,
                       Findings &findings);

} // namespace kma
