// What the host sides of containers share.
#include "container_kernels.hpp"

namespace kma::container_kernels {

Program build(const Device &device, const Heap &heap, const std::string &name, const std::string &file)
{
    ProgramOptions options;
    options.heap = heap.options().kind;
    options.debug = heap.options().debug;
    options.options = heap.options().build_options;
    return Program(device, {{name, "#include \"kma/kernels/" + file + "\"\n"}}, options);
}

void run(const Device &device, const cl::Kernel &kernel, std::size_t work_items)
{
    device.queue().enqueueNDRangeKernel(kernel, cl::NullRange, cl::NDRange(work_items), cl::NullRange);
    device.queue().finish();
}

} // namespace kma::container_kernels
