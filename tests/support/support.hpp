// Shared code of tests on a device: the device, the scale, programs in several flavours, launches
// and arrays.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <type_traits>
#include <vector>

#include "kma/kma.hpp"

namespace test {

/// The device that KMA_DEVICE names, selected once. Throws if there is none.
const kma::Device &device();

/// `count` times the environment variable KMA_TEST_SCALE (default 1), at least `least`. Slow
/// devices get less than 1.
std::size_t scaled(std::size_t count, std::size_t least = 1);

/// The implementations of the platform layer that these options select.
kma::CodePath path(const std::string &options = {});

/// A way to build device code for this device, with its own path through the platform layer.
struct Flavour {
    std::string name;
    std::string options;
    bool atomic64;
};

/// Must be computed before a GENERATE: Catch2 does not survive an exception in one.
using Flavours = std::vector<Flavour>;

constexpr const char *single_lanes_name = "single lanes"; // for devices with several lanes

/// All flavours: the default; 32-bit atomics only; OpenCL C 1.2, with both widths; each work-item
/// its own lane.
Flavours flavours();

/// The flavours that differ only in the atomics' width, as far as the device supports both.
Flavours widths();

/// The flavours for tests of heaps: both widths, and single lanes if the default has several.
Flavours heap_flavours();

/// Whether this run tests the first flavour only (KMA_TEST_FLAVOURS=first).
bool first_flavour_only();

/// Whether this run tests heaps of this kind: KMA_TEST_HEAP is unset or names it.
bool heap_is_asked(kma::HeapKind kind);

/// A kernel file that the test executable embeds.
kma::Source program_source(const std::string &file);

/// Builds such a file, which may include the others.
kma::Program program(const std::string &file, const std::string &options = {}, int debug = 0);
kma::Program program(const std::string &file, kma::ProgramOptions build);

/// The work-group size of a launch: the environment variable KMA_TEST_GROUP if set, else `usual`.
std::size_t group(std::size_t usual);

/// Work-group sizes to test: 1, 7, 37, 64, 256, which are below and above any device's number of
/// lanes and no multiples of it. 1, 37 and 256 on devices with single lanes, since PoCL compiles a
/// kernel for each size. Only that of KMA_TEST_GROUP if set.
const std::vector<std::size_t> &group_sizes();

/// The work-group sizes launched so far.
inline std::set<std::size_t> groups_launched;

/// An array in device memory.
template <class T> class Array {
public:
    static_assert(std::is_trivially_copyable_v<T>);

    explicit Array(const std::vector<T> &values)
        : size_(values.size()), buffer_(device().context(), CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR,
                                        values.size() * sizeof(T), const_cast<T *>(values.data()))
    {
    }
    Array(std::size_t size, T value) : Array(std::vector<T>(size, value)) {}

    std::vector<T> read() const
    {
        std::vector<T> values(size_);
        device().queue().enqueueReadBuffer(buffer_, CL_TRUE, 0, size_ * sizeof(T), values.data());
        return values;
    }

    std::size_t size() const { return size_; }
    const cl::Buffer &buffer() const { return buffer_; }

private:
    std::size_t size_;
    cl::Buffer buffer_;
};

inline void set_arg(cl::Kernel &kernel, cl_uint index, const kma::Heap &heap)
{
    heap.set_arg(kernel, index);
}
/// Without the checks of Heap::set_arg.
inline void set_arg(cl::Kernel &kernel, cl_uint index, const cl::Buffer &buffer)
{
    kernel.setArg(index, buffer);
}
template <class T> void set_arg(cl::Kernel &kernel, cl_uint index, const Array<T> &array)
{
    kernel.setArg(index, array.buffer());
}
template <class T>
requires std::is_arithmetic_v<T>
void set_arg(cl::Kernel &kernel, cl_uint index, T value)
{
    kernel.setArg(index, value);
}

struct Shape {
    std::size_t work_items;
    std::size_t work_group; ///< divides work_items
};

/// At least `work_items` work-items in groups of group(usual).
Shape in_groups(std::size_t work_items, std::size_t usual);

/// A kernel with these arguments, of a program of kma's or of OpenCL's.
inline cl::Kernel kernel_of(const kma::Program &program, const std::string &name)
{
    return program.kernel(name);
}
inline cl::Kernel kernel_of(const cl::Program &program, const std::string &name)
{
    return {program, name.c_str()};
}
template <class AnyProgram, class... Args>
cl::Kernel kernel_with(const AnyProgram &program, const std::string &name, const Args &...args)
{
    cl::Kernel kernel = kernel_of(program, name);
    cl_uint index = 0;
    (set_arg(kernel, index++, args), ...);
    return kernel;
}

/// Runs a kernel, and waits for it. The event has the times.
inline cl::Event run_kernel(const cl::Kernel &kernel, Shape shape)
{
    cl::Event event;
    groups_launched.insert(shape.work_group);
    device().queue().enqueueNDRangeKernel(kernel, cl::NullRange, cl::NDRange(shape.work_items),
                                          cl::NDRange(shape.work_group), nullptr, &event);
    device().queue().finish();
    return event;
}
template <class AnyProgram, class... Args>
cl::Event launch(const AnyProgram &program, const std::string &name, Shape shape, const Args &...args)
{
    return run_kernel(kernel_with(program, name, args...), shape);
}

/// Nanoseconds that a kernel ran.
inline cl_ulong nanoseconds(const cl::Event &event)
{
    return event.getProfilingInfo<CL_PROFILING_COMMAND_END>() - event.getProfilingInfo<CL_PROFILING_COMMAND_START>();
}

/// The device's kma_mix32.
std::uint32_t mix32(std::uint32_t x);

} // namespace test
