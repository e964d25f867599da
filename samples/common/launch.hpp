// Launches and times kernels, and creates their buffers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "kma/kma.hpp"

namespace samples {

/// A launch in one dimension; work_items is a multiple of work_group.
struct LaunchShape {
    std::uint32_t work_items;
    std::uint32_t work_group;
};

/// Returns a shape of at least `work_items` in groups of `work_group`; one smaller group if there
/// are fewer work-items than that.
LaunchShape launch_shape(std::uint32_t work_items, std::uint32_t work_group);

/// Returns a shape of at least `work_items` in whole groups of `work_group`. For kernels launched
/// with many sizes: a CPU driver compiles a kernel anew for each new group size.
LaunchShape whole_groups(std::uint32_t work_items, std::uint32_t work_group);

/// Returns the default work-group size.
std::uint32_t usual_work_group(const kma::Device &device);

/// Runs the kernel and waits for it. Returns its milliseconds by the device's own clock. Throws
/// kma::Error if the work-group is too large for the kernel.
double run(const kma::Device &device, const cl::Kernel &kernel, LaunchShape shape);

/// Returns a buffer with a copy of these bytes.
cl::Buffer copy_of(const kma::Device &device, const void *data, std::size_t bytes,
                   cl_mem_flags access = CL_MEM_READ_ONLY);

/// Returns a buffer with a copy of these objects; `data` is not empty.
template <class T>
cl::Buffer copy_of(const kma::Device &device, const std::vector<T> &data,
                   cl_mem_flags access = CL_MEM_READ_ONLY)
{
    return copy_of(device, data.data(), data.size() * sizeof(T), access);
}

/// Returns the first `count` values of a buffer; waits for them.
template <class T>
std::vector<T> read(const kma::Device &device, const cl::Buffer &buffer, std::size_t count)
{
    std::vector<T> values(count);
    if (count != 0)
        device.queue().enqueueReadBuffer(buffer, CL_TRUE, 0, count * sizeof(T), values.data());
    return values;
}

/// Returns the total size of the buffers.
std::uint64_t bytes_of(const std::vector<cl::Buffer> &buffers);

/// Returns an uninitialized buffer of `count` bytes.
cl::Buffer bytes(const kma::Device &device, std::uint64_t count);

/// Returns an uninitialized buffer of `count` words.
cl::Buffer words(const kma::Device &device, std::size_t count);

/// Returns a buffer of `count` words, each set to `value`.
cl::Buffer words(const kma::Device &device, std::size_t count, cl_uint value);

} // namespace samples
