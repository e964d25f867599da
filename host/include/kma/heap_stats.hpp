// A heap in numbers.
#pragma once

#include <array>
#include <cstdint>
#include <string>

// declares the numbers once, for the kernels that count them and for this struct
#include "kma/heap/common/stats_list.cl"
#include "kma/heap_errors.hpp"
#include "kma/heap_kind.hpp"

namespace kma {

/// What Heap::stats() counted in a heap at rest.
struct HeapStats {
    HeapKind kind; ///< which allocator
    int debug;     ///< KMA_DEBUG of the programs that the heap is made for
#define KMA_HEAP_STATS_MEMBER_OF_HOST(name, meaning) std::uint64_t name;
    /// What each number counts stands beside its name in cl/kma/heap/common/stats_list.cl, and in
    /// to_text().
    ///@{
    KMA_HEAP_STATS(KMA_HEAP_STATS_MEMBER_OF_HOST)
    ///@}
#undef KMA_HEAP_STATS_MEMBER_OF_HOST
    /// how often each ErrorCode happened, up to about 2^31
    std::array<std::uint64_t, error_codes> errors{};

    /// Bytes that are not handed out. In heaps of size classes no request need fit into them.
    std::uint64_t available() const noexcept
    {
        return capacity - used;
    }
};

/// A line for the heap, one for each number with what it counts, and one for each error that
/// happened.
std::string to_text(const HeapStats &stats);

} // namespace kma
