// Launches and times kernels. Times are the kernels' own.
#include "common/launch.hpp"

#include <algorithm>
#include <limits>
#include <string>

namespace samples {

LaunchShape launch_shape(std::uint32_t work_items, std::uint32_t work_group)
{
    return whole_groups(work_items, std::min(work_group, work_items));
}

LaunchShape whole_groups(std::uint32_t work_items, std::uint32_t work_group)
{
    const std::uint64_t groups = (std::uint64_t{work_items} + work_group - 1) / work_group;
    const std::uint64_t most =
        std::numeric_limits<std::uint32_t>::max() / work_group; // the product fits in 32 bits
    return {static_cast<std::uint32_t>(std::min(groups, most) * work_group), work_group};
}

std::uint32_t usual_work_group(const kma::Device &device)
{
    const bool gpu = (device.device().getInfo<CL_DEVICE_TYPE>() & CL_DEVICE_TYPE_GPU) != 0;
    const std::size_t most = device.device().getInfo<CL_DEVICE_MAX_WORK_GROUP_SIZE>();
    return static_cast<std::uint32_t>(std::min<std::size_t>(most, gpu ? 256 : 64));
}

double run(const kma::Device &device, const cl::Kernel &kernel, LaunchShape shape)
{
    const std::size_t most = kernel.getWorkGroupInfo<CL_KERNEL_WORK_GROUP_SIZE>(device.device());
    if (shape.work_group > most)
        throw kma::Error("a work-group of " + std::to_string(shape.work_group) +
                         " is too large: kernel " + kernel.getInfo<CL_KERNEL_FUNCTION_NAME>() +
                         " allows " + std::to_string(most) + " here");
    cl::Event event;
    device.queue().enqueueNDRangeKernel(kernel, cl::NullRange, cl::NDRange(shape.work_items),
                                        cl::NDRange(shape.work_group), nullptr, &event);
    event.wait();
    const cl_ulong begin = event.getProfilingInfo<CL_PROFILING_COMMAND_START>();
    const cl_ulong end = event.getProfilingInfo<CL_PROFILING_COMMAND_END>();
    return static_cast<double>(end - begin) / 1e6;
}

cl::Buffer copy_of(const kma::Device &device, const void *data, std::size_t bytes,
                   cl_mem_flags access)
{
    cl::Buffer buffer(device.context(), access, bytes);
    device.queue().enqueueWriteBuffer(buffer, CL_TRUE, 0, bytes, data);
    return buffer;
}

std::uint64_t bytes_of(const std::vector<cl::Buffer> &buffers)
{
    std::uint64_t sum = 0;
    for (const cl::Buffer &buffer : buffers)
        sum += buffer.getInfo<CL_MEM_SIZE>();
    return sum;
}

cl::Buffer bytes(const kma::Device &device, std::uint64_t count)
{
    return {device.context(), CL_MEM_READ_WRITE, count};
}

cl::Buffer words(const kma::Device &device, std::size_t count)
{
    return {device.context(), CL_MEM_READ_WRITE, count * sizeof(cl_uint)};
}

cl::Buffer words(const kma::Device &device, std::size_t count, cl_uint value)
{
    cl::Buffer buffer = words(device, count);
    device.queue().enqueueFillBuffer(buffer, value, 0, count * sizeof(cl_uint));
    return buffer;
}

} // namespace samples
