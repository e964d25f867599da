// Kernels by name.
#include "common/plain_program.hpp"

#include "common/launch.hpp"

namespace samples {

Times KernelClock::read(const kma::Device &device)
{
    device.queue().finish();
    Times times;
    for (const auto &[enumerates, event] : events_) {
        const cl_ulong begin = event.getProfilingInfo<CL_PROFILING_COMMAND_START>(), end = event.getProfilingInfo<CL_PROFILING_COMMAND_END>();
        (enumerates ? times.enumeration : times.rest) += static_cast<double>(end - begin) / 1e6;
    }
    events_.clear();
    return times;
}

kma::Source source_named(const std::vector<kma::Source> &sources, const std::string &name)
{
    for (const kma::Source &one : sources)
        if (one.name == name)
            return one;
    throw kma::Error("the sample lacks its kernels in " + name);
}

PlainProgram::PlainProgram(const kma::Device &device, const std::vector<kma::Source> &sources, const std::string &options)
    : device_(device), program_(device, sources, {.options = options, .headers = {}}), group_(usual_work_group(device)),
      strided_(device.device().getInfo<CL_DEVICE_MAX_COMPUTE_UNITS>() * (group_ == 64 ? 1024u : 2048u))
{
}

void PlainProgram::enqueue(const std::string &name, const cl::Kernel &kernel, std::uint32_t items)
{
    const LaunchShape shape = whole_groups(items, group_);
    cl::Event event;
    device_.queue().enqueueNDRangeKernel(kernel, cl::NullRange, cl::NDRange(shape.work_items), cl::NDRange(shape.work_group), nullptr, &event);
    clock_.note(name, event);
}

} // namespace samples
