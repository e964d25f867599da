// Shared host code of containers and collectors: runs kernels and reads their results.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kma/heap.hpp"
#include "kma/program.hpp"

namespace kma::container_kernels {

/// The default for a container's longest blocks, in bytes: a power of two, at most
/// `longest_of_all`, 1/64 of the heap and half a superblock.
std::uint64_t longest_block(const Heap &heap, std::uint64_t longest_of_all);

/// Runs a kernel with its arguments set, and waits for it.
void run(const Device &device, const cl::Kernel &kernel, std::size_t work_items);

/// Reads one T from the start of a buffer.
template <class T> T read_one(const Device &device, const cl::Buffer &buffer)
{
    T value{};
    device.queue().enqueueReadBuffer(buffer, CL_TRUE, 0, sizeof(value), &value);
    return value;
}

} // namespace kma::container_kernels
