// The lock-free queue of indices (cl/kma/lockfree/indexed_queue.cl) in a buffer of its own.
#pragma once

#include <cstdint>

#include "kma/device.hpp"

namespace kma {

/// A queue of the integers 0 … capacity-1 for kernels with a `global kma_queue *` parameter.
class IndexedQueue {
public:
    /// Creates the queue, which contains 0 … items-1; the caller holds the other integers.
    /// `first_tag` is the first ABA tag and `force_32_bit` disables 64-bit atomics: both are for
    /// tests. Throws Error if `capacity` is 0, less than `items`, or more than the device's words
    /// can index with a tag of 16 bits (65,534 without 64-bit atomics), or if the device fails the
    /// selftest (see Device).
    IndexedQueue(const Device &device, std::uint32_t capacity, std::uint32_t items,
                 std::uint32_t first_tag = 0, bool force_32_bit = false);

    /// The queue's buffer, for kernel arguments.
    const cl::Buffer &buffer() const noexcept { return buffer_; }

    /// Bits of the ABA tag: 32 with 64-bit atomics, else 16.
    std::uint32_t tag_bits() const noexcept { return tag_bits_; }

private:
    cl::Buffer buffer_;
    std::uint32_t tag_bits_ = 0;
};

} // namespace kma
