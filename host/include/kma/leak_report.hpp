// The blocks of a heap that live.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kma/snapshot.hpp"

namespace kma {

/// What Heap::leaks() found: blocks that were handed out and not freed.
struct LeakReport {
    /// The blocks of one size.
    struct Size {
        std::uint64_t block_bytes; ///< of each, as the heap rounded what was asked for
        std::uint64_t count;       ///< how many
    };
    /// One block.
    struct Block {
        Ref ref;             ///< where it begins
        std::uint64_t bytes; ///< as in Size
    };

    std::uint64_t blocks = 0; ///< all of them
    std::uint64_t bytes = 0;  ///< in all of them, as the heap rounded what was asked for
    std::vector<Size> sizes;  ///< those with blocks, the smallest first
    std::vector<Block> first; ///< the first blocks in the heap, as many as were asked for
};

/// Counts, sizes and the first blocks, lines that end with a newline.
std::string to_text(const LeakReport &report);

} // namespace kma
