// The metadata of a slab heap on the host: which slabs there are, and what must hold at rest.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <vector>

#include "findings.hpp"
#include "layout.hpp"

namespace kma {

/// The metadata of a slab heap, copied from it.
struct SlabBooks {
    std::vector<std::uint32_t> heads; ///< of each place, one for each class
    std::vector<std::uint32_t> used;  ///< of each chunk
    std::vector<std::uint32_t> rooms; ///< a bit for each chunk
    std::vector<std::uint32_t> pins;  ///< of each chunk
    std::vector<std::uint32_t> marks;
    std::vector<std::uint32_t> trees;
    std::vector<std::uint32_t> words; ///< of each line
    std::uint32_t seekers = 0;
    std::array<std::uint32_t, KMA_SL_CLASSES> headed{}; ///< of each class, heads with a slab

    std::uint32_t mark(std::uint32_t line) const
    {
        return marks[line / KMA_SL_MARKS] >> (line % KMA_SL_MARKS * 4) & 15u;
    }
    /// The form of the slab that begins at a line.
    layout::kma_sl_form form(std::uint32_t line) const;
    /// For each line the slots that heads own of the slab that begins there, which are nobody's blocks; 0 if no head has it.
    std::vector<std::uint32_t> heads_own() const;
};

/// Visits each block: the first line of its slab, its first unit behind the heap's begin, its units. Damaged slabs are
/// passed over.
void for_each_slab_block(const layout::kma_sl_plan &plan, const SlabBooks &books,
                         const std::function<void(std::uint32_t line, std::uint32_t unit, std::uint32_t units)> &visit);

/// Names each broken invariant.
void check_slab(const layout::kma_sl_plan &plan, const SlabBooks &books, Findings &findings);

} // namespace kma
