// Reads and checks KMA_DEBUG's guards around blocks on the host
// (cl/kma/heap/common/guard_layout.cl), for heaps of all kinds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "heap/common/findings.hpp"
#include "kma/leak_report.hpp"
#include "heap/common/layout.hpp"

namespace kma {

/// A part of a heap's memory.
struct HeapPart {
    std::uint32_t first;
    std::span<const std::byte> bytes;

    std::uint32_t end() const
    {
        return first + static_cast<std::uint32_t>(bytes.size() / KMA_UNIT);
    }
    const std::byte *at(std::uint32_t unit) const
    {
        return bytes.data() + std::uint64_t{unit - first} * KMA_UNIT;
    }
    HeapPart from(std::uint32_t unit, std::uint32_t behind) const;
};

/// A block, as described by its guard.
struct BlockGuard {
    Ref ref;
    std::uint64_t bytes;     ///< bytes requested
    std::uint32_t state;     ///< KMA_BLOCK_…
    std::uint64_t work_item; ///< that allocated it; KMA_DEBUG 2 and 3, else 0
    std::uint32_t site;      ///< source line; KMA_DEBUG 3, else 0
    std::uint32_t raw;       ///< first unit of the block with its guard
    std::uint32_t end;       ///< first unit after it
};

/// Finds the first guarded block in a part.
std::optional<BlockGuard> find_guard(const HeapPart &part, int debug);

/// Whether the part was never allocated, or only as a gap for alignment.
bool is_fresh(const HeapPart &part);

/// "file:line" of a site; empty if the heap has no name for it.
std::string site_text(const layout::kma_guard &guard, std::uint32_t site);

/// A function that calls its argument with the memory of each block that was allocated.
using BlockWalk = std::function<void(const std::function<void(const HeapPart &)> &)>;

/// The living blocks among those of `walk`; `guard` for KMA_DEBUG 3.
LeakReport guarded_leaks(const BlockWalk &walk, int debug, const layout::kma_guard *guard,
                         std::size_t most);

/// Reports overwritten red zones, freed blocks and guards, and a quarantine that does not contain
/// exactly the freed blocks. `reuses`: the heap allocates freed memory again; every allocated block
/// outside the quarantine must then be living.
void check_guards(const BlockWalk &walk, int debug, bool reuses, const layout::kma_guard &guard,
                  Findings &findings);

/// Reports data that kernels would follow outside of blocks, from KMA_DEBUG 1 on: sizes in guards
/// that exceed their parts of `walk`, and refs in the quarantine to no freed block. Skips
/// overwritten guards, which kernels do not follow. Each part is a block or, with `reuses` false,
/// all allocated memory. `guard` for KMA_DEBUG 2 and 3.
void check_followed(const BlockWalk &walk, int debug, bool reuses, const layout::kma_guard *guard,
                    Findings &findings);

} // namespace kma
