// Kernels launched and timed, and the buffers that they take.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "kma/kma.hpp"

namespace samples {

/// One dimension; a multiple of the group.
struct LaunchShape {
    std::uint32_t work_items;
    std::uint32_t work_group;
};

/// A shape of at least `work_items` in groups of `work_group`, or of all if they are fewer than one
/// group.
LaunchShape launch_shape(std::uint32_t work_items, std::uint32_t work_group);

/// A shape of at least `work_items` in whole groups of `work_group`, for kernels that are launched
/// with many sizes: on CPUs each size of a group that comes for the first time is compiled for.
LaunchShape whole_groups(std::uint32_t work_items, std::uint32_t work_group);

/// The size of a group where nobody asks for another.
std::uint32_t usual_work_group(const kma::Device &device);

/// Runs the kernel and waits for it; milliseconds of the kernel alone, from the device's own clock.
/// Throws kma::Error if the group is too large for it.
double run(const kma::Device &device, const cl::Kernel &kernel, LaunchShape shape);

/// A buffer with these bytes.
cl::Buffer copy_of(const kma::Device &device, const void *data, std::size_t bytes,
                   cl_mem_flags access = CL_MEM_READ_ONLY);

/// A buffer with these objects; `data` is not empty.
template <class T>
cl::Buffer copy_of(const kma::Device &device, const std::vector<T> &data,
                   cl_mem_flags access = CL_MEM_READ_ONLY)
{
    return copy_of(device, data.data(), data.size() * sizeof(T), access);
}

/// The first `count` values of a buffer; waits.
template <class T>
std::vector<T> read(const kma::Device &device, const cl::Buffer &buffer, std::size_t count)
{
    std::vector<T> values(count);
    if (count != 0)
        device.queue().enqueueReadBuffer(buffer, CL_TRUE, 0, count * sizeof(T), values.data());
    return values;
}

/// The sizes of buffers, together.
std::uint64_t bytes_of(const std::vector<cl::Buffer> &buffers);

/// A buffer of so many bytes, with whatever there is.
cl::Buffer bytes(const kma::Device &device, std::uint64_t count);

/// A buffer of so many words, with whatever there is.
cl::Buffer words(const kma::Device &device, std::size_t count);

/// A buffer of so many words, all of them `value`.
cl::Buffer words(const kma::Device &device, std::size_t count, cl_uint value);

} // namespace samples
