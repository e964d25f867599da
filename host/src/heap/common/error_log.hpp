// The error log of heaps and worlds: its records, and their text.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "heap/common/layout.hpp"
#include "kma/heap_errors.hpp"

namespace kma {

/// The records that kernels completed, code by code. `where` names the source line of a site.
std::vector<ErrorRecord> records_of(const layout::kma_error_log &log,
                                    const std::function<std::string(std::uint32_t)> &where);

/// The words for errors in a heap, or in a world.
struct ErrorWords {
    const char *(*explain)(ErrorCode); ///< what a code means
    const char *ref;                   ///< before a record's ref
    const char *size, *size_unit;      ///< around a record's size
};

/// The counts, the line `between`, and the records, each line ending with a newline; empty without
/// errors.
std::string error_text(std::span<const std::uint64_t> counts,
                       const std::vector<ErrorRecord> &records, const ErrorWords &words,
                       const std::string &between);

} // namespace kma
