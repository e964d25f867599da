// Creates and runs kernels by their names.
#include "common/plain_program.hpp"

#include <cstdio>

#include "common/launch.hpp"

namespace samples {

double Times::total() const
{
    double sum = 0;
    for (const auto &[name, milliseconds] : kernels)
        sum += milliseconds;
    return sum;
}

double Times::enumeration() const
{
    const auto found = kernels.find("kma_world_list_kernel");
    return found == kernels.end() ? 0 : found->second;
}

void Times::add(const Times &others)
{
    for (const auto &[name, milliseconds] : others.kernels)
        kernels[name] += milliseconds;
}

void Times::print(double steps) const
{
    for (const auto &[name, milliseconds] : kernels)
        std::printf("         %8.4f ms %s\n", milliseconds / steps, name.c_str());
}

Times KernelClock::read(const kma::Device &device)
{
    device.queue().finish();
    Times times;
    for (const auto &[name, event] : events_) {
        const cl_ulong begin = event.getProfilingInfo<CL_PROFILING_COMMAND_START>(),
                       end = event.getProfilingInfo<CL_PROFILING_COMMAND_END>();
        times.kernels[name] += static_cast<double>(end - begin) / 1e6;
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

kma::ProgramOptions build_with(const std::vector<kma::Source> &headers, const std::string &options)
{
    kma::ProgramOptions made;
    made.options = options;
    made.headers = headers;
    return made;
}

PlainProgram::PlainProgram(const kma::Device &device, const std::vector<kma::Source> &sources,
                           const std::string &file, const std::string &options)
    : device_(device),
      program_(device, {source_named(sources, file)}, build_with(sources, options)),
      group_(usual_work_group(device)),
      strided_(device.device().getInfo<CL_DEVICE_MAX_COMPUTE_UNITS>() *
               (group_ == 64 ? 1024u : 2048u))
{
}

void PlainProgram::enqueue(const std::string &name, const cl::Kernel &kernel, std::uint32_t items)
{
    const LaunchShape shape = whole_groups(items, group_);
    cl::Event event;
    device_.queue().enqueueNDRangeKernel(kernel, cl::NullRange, cl::NDRange(shape.work_items),
                                         cl::NDRange(shape.work_group), nullptr, &event);
    clock_.note(name, event);
}

} // namespace samples
