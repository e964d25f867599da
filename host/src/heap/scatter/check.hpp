// What must hold in a scatter heap at rest.
#pragma once

#include <cstdint>
#include <vector>

#include "heap/common/findings.hpp"
#include "heap/common/layout.hpp"

namespace kma {

/// The metadata of a scatter heap, copied from it.
struct ScatterBooks {
    std::vector<std::uint32_t> table;   ///< the word of each page
    std::vector<std::uint32_t> trees;   ///< that of the free pages, then the list of each class
    std::vector<std::uint32_t> full;    ///< of each super block
    std::vector<std::uint32_t> bitmaps; ///< of all pages
};

/// Names each broken invariant.
void check_scatter(const layout::kma_scatter_plan &plan, const ScatterBooks &books,
                   Findings &findings);

} // namespace kma
