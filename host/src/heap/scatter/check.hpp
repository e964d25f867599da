// Checks the invariants of a scatter heap at rest.
#pragma once

#include <cstdint>
#include <vector>

#include "heap/common/findings.hpp"
#include "heap/common/layout.hpp"

namespace kma {

/// The metadata of a scatter heap, copied from it.
struct ScatterBooks {
    std::vector<std::uint32_t> table;   ///< one word for each page
    std::vector<std::uint32_t> trees;   ///< the tree of the free pages, then one for each class
    std::vector<std::uint32_t> full;    ///< one word for each region
    std::vector<std::uint32_t> bitmaps; ///< the bitmaps of all pages
};

/// Reports each broken invariant.
void check_scatter(const layout::kma_scatter_plan &plan, const ScatterBooks &books,
                   Findings &findings);

} // namespace kma
