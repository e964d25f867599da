// The blocks of a heap that live.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "kma/snapshot.hpp"

namespace kma {

/// What Heap::leaks() found: blocks that were handed out and not freed.
struct LeakReport {
    /// The blocks of one size.
    struct Size {
        /// of each: as asked for where KMA_DEBUG keeps that (bump heap: from 1 on, others: from 2
        /// on), else as the heap rounded it
        std::uint64_t block_bytes;
        std::uint64_t count;       ///< how many
    };
    /// One block.
    struct Block {
        Ref ref;                                ///< where it begins
        std::uint64_t bytes;                    ///< as in Size
        /// that took it, a linear global id; with KMA_DEBUG 2 and more
        std::optional<std::uint64_t> work_item;
        /// "file:line" where it was taken; with KMA_DEBUG 3, else empty
        std::string where;
    };
    /// The blocks that were taken in one place of the program.
    struct Place {
        std::string where;       ///< "file:line"
        std::uint64_t count = 0; ///< how many
        std::uint64_t bytes = 0; ///< in all of them
    };

    std::uint64_t blocks = 0;  ///< all of them
    std::uint64_t bytes = 0;   ///< in all of them, as in Size
    std::vector<Size> sizes;   ///< those with blocks, the smallest first
    std::vector<Block> first;  ///< the first blocks in the heap, as many as were asked for
    /// with KMA_DEBUG 3: where they were taken, those with most bytes first
    std::vector<Place> places;
};

/// Counts, sizes and the first blocks, lines that end with a newline.
std::string to_text(const LeakReport &report);

} // namespace kma
