// What runners ask of a heap's error log: how many requests were refused for want of memory since
// they last looked.
#pragma once

#include <algorithm>
#include <cstdint>

#include "heap/common/driver.hpp"

namespace kma {

class Refusals {
public:
    explicit Refusals(const HeapDriver &heap) : seen_(heap.error_count(code)) {}

    /// Whether there were any since the last look.
    bool look(const HeapDriver &heap)
    {
        count_ = heap.error_count(code);
        if (count_ < seen_) // the log was emptied
            seen_ = 0;
        return count_ != seen_ || count_ >= counts_end;
    }

    /// Those in the log that a look has told of.
    std::uint32_t seen() const { return seen_; }

    /// They stay in the log.
    void keep() { seen_ = count_; }

    /// Takes them out of the log, for the requests are to be made again; returns how many there
    /// were.
    std::uint32_t forget(HeapDriver &heap)
    {
        heap.forget_errors(code, seen_);
        return count_ - seen_;
    }

    /// Bytes that a runner may give the heap: `wanted`, or what the heap and its device allow.
    static std::uint64_t limit_of(const HeapDriver &heap, std::uint64_t wanted)
    {
        return std::min(heap.options().max_bytes,
                        wanted != 0 ? wanted : heap.device().max_buffer_bytes());
    }

private:
    static constexpr ErrorCode code = ErrorCode::out_of_memory;
    // Where counts of errors stop: such a count may hide that there were more (kma_count_errors in
    // heap/common/error_log.cl).
    static constexpr std::uint32_t counts_end = 0x80000000;

    std::uint32_t seen_;
    std::uint32_t count_ = 0;
};

} // namespace kma
