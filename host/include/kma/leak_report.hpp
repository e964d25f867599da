// The living blocks of a heap.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "kma/snapshot.hpp"

namespace kma {

/// The result of Heap::leaks(): the blocks that were allocated and not freed.
struct LeakReport {
    /// The blocks of one size.
    struct Size {
        /// bytes of each block: as requested if KMA_DEBUG records that (bump heap: from 1 on,
        /// others: from 2 on), else as rounded by the heap
        std::uint64_t block_bytes;
        std::uint64_t count;       ///< number of blocks of this size
    };
    /// One block.
    struct Block {
        Ref ref;                                ///< the block's ref
        std::uint64_t bytes;                    ///< as in Size
        /// linear global id of the work-item that allocated it; with KMA_DEBUG 2 and 3
        std::optional<std::uint64_t> work_item;
        /// "file:line" of the allocation with KMA_DEBUG 3, else empty
        std::string where;
    };
    /// The blocks that were allocated at one source line.
    struct Place {
        std::string where;       ///< "file:line"
        std::uint64_t count = 0; ///< number of blocks
        std::uint64_t bytes = 0; ///< their bytes
    };

    std::uint64_t blocks = 0;  ///< number of living blocks
    std::uint64_t bytes = 0;   ///< their bytes, as in Size
    std::vector<Size> sizes;   ///< the sizes of living blocks, ascending
    std::vector<Block> first;  ///< the blocks at the lowest refs, up to `most` of Heap::leaks()
    /// with KMA_DEBUG 3: the source lines of the allocations, by descending bytes
    std::vector<Place> places;
};

/// Counts, sizes and the first blocks as lines of text, each with a newline.
std::string to_text(const LeakReport &report);

} // namespace kma
