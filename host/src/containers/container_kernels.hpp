// What the host sides of containers share: their kernels are built for a heap, run by few
// work-items, and tell something.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "kma/heap.hpp"
#include "kma/program.hpp"

namespace kma::container_kernels {

/// The kernels of cl/kma/`file` for heaps of this one's kind, KMA_DEBUG and build options;
/// `name` stands in the compiler's log.
Program build(const Device &device, const Heap &heap, const std::string &name,
              const std::string &file);

/// The longest blocks that a container takes from a heap, unless it is told: a power of two of
/// bytes, at most `longest_of_all`, which fits there and is no large part of it.
std::uint64_t longest_block(const Heap &heap, std::uint64_t longest_of_all);

/// Runs a kernel whose arguments are set, and waits for it.
void run(const Device &device, const cl::Kernel &kernel, std::size_t work_items);

/// What a kernel left at the start of a buffer.
template <class T> T read_one(const Device &device, const cl::Buffer &buffer)
{
    T value{};
    device.queue().enqueueReadBuffer(buffer, CL_TRUE, 0, sizeof(value), &value);
    return value;
}

} // namespace kma::container_kernels
