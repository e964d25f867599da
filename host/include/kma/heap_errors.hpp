// What kernels did wrong, as a heap's error log has it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "kma/snapshot.hpp"

namespace kma {

/// What a kernel can do wrong.
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

/// One error in detail.
struct ErrorRecord {
    ErrorCode code;          ///< what went wrong
    /// linear global id; of overrun and write_after_free the one that took the block
    std::uint64_t work_item;
    /// bytes asked for; the alignment of bad_alignment; the heap's KMA_DEBUG of bad_heap
    std::uint64_t size;
    Ref ref;                 ///< the block of a free, of overrun and write_after_free, else 0
    /// of the last two with KMA_DEBUG 3: "file:line" where the block was taken; else empty
    std::string where;
};

/// What a code means and what to do about it, as one sentence.
const char *explain(ErrorCode code) noexcept;

} // namespace kma
