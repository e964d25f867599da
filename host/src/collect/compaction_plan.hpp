// The regions that a compaction empties (sources) and those that receive objects (targets).
#pragma once

#include <cstdint>
#include <vector>

#include "heap/common/layout.hpp"

namespace kma {

struct CompactionPlan {
    std::vector<std::uint32_t> sources; ///< numbers of regions; some may be empty
    std::vector<std::uint32_t> targets;
    std::vector<std::uint32_t> is_source; ///< for each region: 1 or 0
    std::uint64_t units = 0;              ///< units of taken slots in the sources
};

/// Chooses up to `most` sources from the top and targets from the bottom, until they meet or the
/// free slots and frames below suffice for no further source. Sources and targets have at most
/// `fullest` taken units.
CompactionPlan plan_compaction(const std::vector<layout::kma_region> &regions, std::uint32_t most,
                               std::uint32_t fullest);

/// The sources that plan_window may choose.
struct Window {
    std::uint32_t regions; ///< number of adjacent regions
    std::uint32_t within;  ///< all within one aligned part of `within` regions; 0: anywhere
    bool is_last_whole;    ///< the last region may be a source
};

/// Chooses the window with the fewest taken units as sources, the topmost of several; none if no
/// window can be emptied. Targets are all other regions with at most `fullest` taken units.
CompactionPlan plan_window(const std::vector<layout::kma_region> &regions, Window window,
                           std::uint32_t fullest);

} // namespace kma
