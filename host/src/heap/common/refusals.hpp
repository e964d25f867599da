// Counts the requests in a heap's error log that were refused for lack of memory since the last
// look. For the runners.
#pragma once

#include <algorithm>
#include <cstdint>

#include "heap/common/driver.hpp"

namespace kma {

class Refusals {
public:
    explicit Refusals(const HeapDriver &heap) : seen_(heap.error_count(code)) {}

    /// Whether requests were refused since the last look.
    bool look(const HeapDriver &heap)
    {
        count_ = heap.error_count(code);
        if (count_ < seen_) // the log was emptied
            seen_ = 0;
        return count_ != seen_ || count_ >= counts_end;
    }

    /// Number of refusals in the log that look() has reported.
    std::uint32_t seen() const { return seen_; }

    /// Leaves the refusals in the log.
    void keep() { seen_ = count_; }

    /// Removes the refusals since the last look from the log, because the requests will be
    /// repeated; returns their number.
    std::uint32_t forget(HeapDriver &heap)
    {
        heap.forget_errors(code, seen_);
        return count_ - seen_;
    }

    /// The most bytes that a runner may give the heap: `wanted`, but no more than the heap's
    /// max_bytes; 0: max_bytes, or the device's largest guaranteed buffer if that is less.
    static std::uint64_t limit_of(const HeapDriver &heap, std::uint64_t wanted)
    {
        return std::min(heap.options().max_bytes,
                        wanted != 0 ? wanted : heap.device().max_buffer_bytes());
    }

private:
    static constexpr ErrorCode code = ErrorCode::out_of_memory;
    // Counts of errors stop here; there may have been more (kma_count_errors in
    // heap/common/error_log.cl).
    static constexpr std::uint32_t counts_end = 0x80000000;

    std::uint32_t seen_;
    std::uint32_t count_ = 0;
};

} // namespace kma
