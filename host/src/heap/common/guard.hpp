// What KMA_DEBUG puts around blocks, read on the host (cl/kma/heap/common/guard_layout.cl). The
// same for heaps of all kinds.
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

/// Memory of a heap, from a unit on.
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

/// A block as what stands in front of it tells.
struct BlockGuard {
    Ref ref;
    std::uint64_t bytes;     ///< asked for
    std::uint32_t state;     ///< KMA_BLOCK_…
    std::uint64_t work_item; ///< that took it; KMA_DEBUG 2 and more, else 0
    std::uint32_t site;      ///< KMA_DEBUG 3, else 0
    std::uint32_t raw;       ///< the first unit of all that is around it
    std::uint32_t end;       ///< the first behind that
};

/// The first block of a part in which blocks begin with KMA_DEBUG's guards.
std::optional<BlockGuard> find_guard(const HeapPart &part, int debug);

/// Whether the part was given to nobody, or only for the alignment of others.
bool is_fresh(const HeapPart &part);

/// "file:line" of a site; empty if the heap does not know it.
std::string site_text(const layout::kma_guard &guard, std::uint32_t site);

/// Calls its argument with the memory of each block that the heap gave to somebody.
using BlockWalk = std::function<void(const std::function<void(const HeapPart &)> &)>;

/// The living blocks among them; `guard` for KMA_DEBUG 3.
LeakReport guarded_leaks(const BlockWalk &walk, int debug, const layout::kma_guard *guard,
                         std::size_t most);

/// Names what was written over: red zones, freed blocks, the guards themselves, and a quarantine
/// that does not hold just the blocks that are on their way back. `reuses`: the heap hands freed
/// memory out again, so that nothing else that is somebody's was freed.
void check_guards(const BlockWalk &walk, int debug, bool reuses, const layout::kma_guard &guard,
                  Findings &findings);

/// Names what would lead kernels astray from KMA_DEBUG 1 on: sizes in guards that their parts of
/// `walk` have no room for, and refs in the quarantine that are of no freed block. Guards that were
/// written over are not followed, and not named. Each part is a block, or with `reuses` false all
/// memory that was handed out; `guard` for KMA_DEBUG 2 and 3.
void check_followed(const BlockWalk &walk, int debug, bool reuses, const layout::kma_guard *guard,
                    Findings &findings);

} // namespace kma
