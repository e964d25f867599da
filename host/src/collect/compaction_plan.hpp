// Which regions of a heap a compaction empties, and into which it moves what they have.
#pragma once

#include <cstdint>
#include <vector>

#include "heap/common/layout.hpp"

namespace kma {

struct CompactionPlan {
    std::vector<std::uint32_t> sources; ///< numbers of regions; some may hold nothing
    std::vector<std::uint32_t> targets;
    std::vector<std::uint32_t> is_source; ///< of each region: 1 or 0
    std::uint64_t units = 0;              ///< that sources have in slots that are taken
};

/// Sources from the top, as many as `most`, targets from the bottom, until they meet or there is no
/// more room below: free slots of targets, and free frames. None is fuller than `fullest` units.
CompactionPlan plan_compaction(const std::vector<layout::kma_region> &regions, std::uint32_t most,
                               std::uint32_t fullest);

/// What the sources of plan_window must be.
struct Window {
    std::uint32_t regions; ///< so many, side by side
    std::uint32_t within;  ///< all in one of the parts of so many regions of the heap; 0: anywhere
    bool is_last_whole;    ///< the last region may be one of them
};

/// The sources are the window with the least to move, the topmost of several; no sources if there
/// is none that can be emptied. Targets are all others not fuller than `fullest` units.
CompactionPlan plan_window(const std::vector<layout::kma_region> &regions, Window window,
                           std::uint32_t fullest);

} // namespace kma
