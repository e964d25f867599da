// What the tests on a device share: the device, the scale, programs in several flavours, launches and arrays.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <type_traits>
#include <vector>

#include "kma/kma.hpp"

namespace test {

/// The device that KMA_DEVICE names, selected once. Throws where there is none.
const kma::Device &device();

/// `count` times the environment variable KMA_TEST_SCALE (default 1), at least `least`. Slow devices get less than 1.
std::size_t scaled(std::size_t count, std::size_t least = 1);

/// Which implementation the platform layer chooses with these options.
kma::CodePath path(const std::string &options = {});

/// A way to build device code on this device that takes a path of its own.
struct Flavour {
    std::string name;
    std::string options;
    bool atomic64;
};

/// To be computed before a GENERATE: Catch2 does not survive an exception in one.
using Flavours = std::vector<Flavour>;

constexpr const char *single_lanes_name = "single lanes"; // where the device has more

/// All of them: the default; 32-bit atomics only; OpenCL C 1.2, with both widths; each work-item its own lane.
Flavours flavours();

/// The flavours that differ in the atomics' width only, as far as the device has both.
Flavours widths();

/// The flavours that a heap's tests run in: both widths, and single lanes where the default is not.
Flavours heap_flavours();

/// Whether this run is for something else than the flavours (KMA_TEST_FLAVOURS=first): then the first is enough.
bool first_flavour_only();

/// Whether this run is for heaps of that kind: for all, or for that of KMA_TEST_HEAP.
bool heap_is_asked(kma::HeapKind kind);

/// A kernel file that the test executable embeds.
kma::Source program_source(const std::string &file);

/// The same, built; it may include the others.
kma::Program program(const std::string &file, const std::string &options = {}, int debug = 0);
kma::Program program(const std::string &file, kma::ProgramOptions build);

/// The work-group size for a launch that usually has `usual`: the environment variable KMA_TEST_GROUP, if it is set.
std::size_t group(std::size_t usual);

/// 1, 7, 37, 64, 256: less and more than any device's lanes, and numbers that fill none; 1, 37 and 256 where no lanes meet, as
/// PoCL compiles a kernel for each. Only the one of KMA_TEST_GROUP if that is set.
const std::vector<std::size_t> &group_sizes();

/// The sizes of the work-groups that were launched so far.
const std::set<std::size_t> &groups_launched();
void note_group(std::size_t size);

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
/// A heap as its bare buffer, which a kernel for another heap takes too: Heap::set_arg would refuse.
struct AnyHeap {
    const kma::Heap &heap;
};
inline void set_arg(cl::Kernel &kernel, cl_uint index, const AnyHeap &any)
{
    kernel.setArg(index, any.heap.buffer());
}
inline void set_arg(cl::Kernel &kernel, cl_uint index, const kma::IndexedQueue &queue)
{
    kernel.setArg(index, queue.buffer());
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

/// At least so many work-items in groups of group(usual).
Shape in_groups(std::size_t work_items, std::size_t usual);

/// Runs a kernel with these arguments and waits for its end.
template <class... Args>
void launch(const kma::Program &program, const std::string &name, Shape shape, const Args &...args)
{
    cl::Kernel kernel = program.kernel(name);
    cl_uint index = 0;
    (set_arg(kernel, index++, args), ...);
    note_group(shape.work_group);
    device().queue().enqueueNDRangeKernel(kernel, cl::NullRange, cl::NDRange(shape.work_items),
                                          cl::NDRange(shape.work_group));
    device().queue().finish();
}

/// The device's kma_mix32.
std::uint32_t mix32(std::uint32_t x);

} // namespace test
