// Shared code of the containers' host side: builds their kernels for a heap, runs them and reads
// results.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "kma/heap.hpp"
#include "kma/program.hpp"

namespace kma::container_kernels {

/// Builds the kernels of cl/kma/`file` for the kind, KMA_DEBUG and build options of `heap`. `name`
/// is the source's name in the compiler's log.
Program build(const Device &device, const Heap &heap, const std::string &name,
              const std::string &file);

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
