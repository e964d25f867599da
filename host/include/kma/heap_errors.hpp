// What kernels did wrong, as a heap's error log has it.
#pragma once

#include <cstddef>
#include <cstdint>

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
};
inline constexpr std::size_t error_codes = 7;

/// One error in detail.
struct ErrorRecord {
    ErrorCode code;          ///< what went wrong
    std::uint64_t work_item; ///< linear global id
    std::uint64_t size;      ///< bytes asked for; the alignment of bad_alignment; the heap's KMA_DEBUG of bad_heap
    Ref ref;                 ///< the block of a free, else 0
};

/// What a code means and what to do about it, as one sentence.
const char *explain(ErrorCode code) noexcept;

} // namespace kma
