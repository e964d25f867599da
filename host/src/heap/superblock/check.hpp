// The invariants of a superblock heap at rest.
#pragma once

#include <cstdint>
#include <vector>

#include "heap/common/findings.hpp"
#include "heap/common/layout.hpp"

namespace kma {

/// All metadata but those that never change, the single blocks' bits, and the hints where to look
/// first, of which any value is right; as the census kernels tell them.
struct SuperblockCensus {
    bool atomic64;         ///< of the heap's kernels
    std::uint32_t in_hand; ///< superblocks
    std::vector<layout::kma_superblock_census> superblocks;
    std::vector<layout::kma_superblock_class_census> classes;
    /// one for each node, and the last for the queue itself
    std::vector<layout::kma_queue_census> queue;
    std::vector<std::uint32_t> sets;             ///< the bits of the partial sets, class by class
};

/// Names each invariant that does not hold; cl/kma/heap/superblock/credit.cl, superblock/offer.cl,
/// superblock/slots.cl and cl/kma/lockfree/ state them.
void check_superblocks(const layout::kma_superblock_plan &plan, const SuperblockCensus &census,
                       Findings &findings);

} // namespace kma
