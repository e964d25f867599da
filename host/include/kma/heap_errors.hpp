// The errors of kernels, as recorded in a heap's error log.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "kma/snapshot.hpp"

namespace kma {

/// The kinds of errors in kernels; explain() describes each.
enum class ErrorCode : std::uint32_t {
    out_of_memory,
    too_large,
    bad_alignment,
    invalid_free,
    double_free,
    bad_heap,
    damaged,
    overrun,
    write_after_free,
};
inline constexpr std::size_t error_codes = 9;

/// One record of the error log.
struct ErrorRecord {
    ErrorCode code;          ///< the kind of error
    /// linear global id of the caller; overrun, write_after_free: of the work-item that allocated
    /// the block
    std::uint64_t work_item;
    /// bytes requested; bad_alignment: the alignment; bad_heap: the heap's KMA_DEBUG
    std::uint64_t size;
    Ref ref;                 ///< the block, for frees, overrun and write_after_free; else 0
    /// overrun and write_after_free with KMA_DEBUG 3: "file:line" of the allocation; else empty
    std::string where;
};

/// What a code means and how to fix the error, in one sentence.
const char *explain(ErrorCode code) noexcept;

} // namespace kma
