// A heap's statistics.
#pragma once

#include <array>
#include <cstdint>
#include <string>

// the one list of statistics, for the kernels that count them and for this struct
#include "kma/heap/common/stats_list.cl"
#include "kma/heap_errors.hpp"
#include "kma/heap_kind.hpp"

namespace kma {

/// The result of Heap::stats() for a heap at rest.
struct HeapStats {
    HeapKind kind; ///< the allocator
    int debug;     ///< KMA_DEBUG of the programs that may use the heap
#define KMA_HEAP_STATS_MEMBER_OF_HOST(name, meaning) std::uint64_t name;
    /// The list in cl/kma/heap/common/stats_list.cl says what each number counts, as does
    /// to_text(). @{
    KMA_HEAP_STATS(KMA_HEAP_STATS_MEMBER_OF_HOST)
    /// @}
#undef KMA_HEAP_STATS_MEMBER_OF_HOST
    /// number of errors of each ErrorCode, up to about 2^31
    std::array<std::uint64_t, error_codes> errors{};

    /// Bytes that are not allocated. With size classes there may be no request that fits into them.
    std::uint64_t available() const noexcept
    {
        return capacity - used;
    }
};

/// One line for the heap, one for each number with its meaning, and one for each error that
/// occurred.
std::string to_text(const HeapStats &stats);

} // namespace kma
