// Creates queues: queries the struct sizes of the device's compiler, then runs the init kernel.
#include "lockfree/indexed_queue.hpp"

#include <algorithm>

#include "kma/error.hpp"
#include "kma/program.hpp"
#include "device/internals.hpp"

namespace kma {
namespace {

// The results of kma_queue_shape_kernel.
struct Shape {
    cl_ulong queue_bytes;
    cl_ulong node_bytes;
    cl_ulong max_capacity;
    cl_ulong tag_bits;
};

Shape read_shape(const Device &device, const Program &program)
{
    const cl::Buffer buffer(device.context(), CL_MEM_READ_WRITE, sizeof(Shape));
    cl::Kernel kernel = program.kernel("kma_queue_shape_kernel");
    kernel.setArg(0, buffer);
    device.queue().enqueueNDRangeKernel(kernel, cl::NullRange, cl::NDRange(1), cl::NullRange);
    Shape shape;
    device.queue().enqueueReadBuffer(buffer, CL_TRUE, 0, sizeof(shape), &shape);
    return shape;
}

} // namespace

IndexedQueue::IndexedQueue(const Device &device, std::uint32_t capacity, std::uint32_t items,
                           std::uint32_t first_tag, bool force_32_bit)
{
    DeviceInternals::selftest_gate(device).require_passed(device);
    ProgramOptions options;
    if (force_32_bit)
        options.options = "-DKMA_HAS_ATOMIC64=0";
    const Program program(
        device,
        {{"(kernels of the queue)", "#include \"kma/lockfree/indexed_queue_kernels.cl\"\n"}},
        options);
    const Shape shape = read_shape(device, program);
    if (capacity == 0 || items > capacity)
        throw Error("a queue of capacity " + std::to_string(capacity) + " cannot start with " +
                    std::to_string(items) +
                    " items; it needs at least 1 place, and no more items than places");
    if (capacity > shape.max_capacity)
        throw Error("a queue of " + std::to_string(capacity) + " items does not fit: beside " +
                    std::to_string(shape.tag_bits) + " tag bits this device's words index " +
                    std::to_string(shape.max_capacity) + "; take several queues, or a smaller one");
    tag_bits_ = static_cast<std::uint32_t>(shape.tag_bits);
    buffer_ = cl::Buffer(device.context(), CL_MEM_READ_WRITE,
                         shape.queue_bytes + (std::uint64_t{capacity} + 1) * shape.node_bytes);
    cl::Kernel init = program.kernel("kma_queue_init_kernel");
    init.setArg(0, buffer_);
    init.setArg(1, capacity);
    init.setArg(2, items);
    init.setArg(3, first_tag);
    // Any number works; a node takes a few stores.
    const std::size_t work_items =
        std::min<std::size_t>((std::size_t{capacity} / 64 + 1) * 64, 65536);
    device.queue().enqueueNDRangeKernel(init, cl::NullRange, cl::NDRange(work_items),
                                        cl::NullRange);
    device.queue().finish();
}

} // namespace kma
