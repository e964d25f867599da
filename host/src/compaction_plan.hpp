// Which regions of a heap a compaction empties, and into which it moves what they have.
#pragma once

#include <cstdint>
#include <vector>

#include "layout.hpp"

namespace kma {

struct CompactionPlan {
    std::vector<std::uint32_t> sources; ///< numbers of regions; some may hold nothing
    std::vector<std::uint32_t> targets;
    std::vector<std::uint32_t> is_source; ///< of each region: 1 or 0
};

/// Sources from the top, as many as `most`, targets from the bottom, until they meet or the targets
/// have no more free slots. None is fuller than `fullest` units.
CompactionPlan plan_compaction(const std::vector<layout::kma_region> &regions, std::uint32_t most,
                               std::uint32_t fullest);

/// The sources are `count` regions side by side, those with the least to move, the topmost of
/// several; no sources if there are no such regions that all can be emptied. Targets are all others
/// not fuller than `fullest` units. `is_last_whole`: the last region may be among the sources.
CompactionPlan plan_window(const std::vector<layout::kma_region> &regions, std::uint32_t count,
                           std::uint32_t fullest, bool is_last_whole);

} // namespace kma
