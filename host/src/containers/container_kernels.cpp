// Shared code of the containers' host side.
#include "containers/container_kernels.hpp"

#include <algorithm>
#include <bit>

namespace kma::container_kernels {

Program build(const Device &device, const Heap &heap, const std::string &name,
              const std::string &file)
{
    ProgramOptions options;
    options.heap = heap.options().kind;
    options.debug = heap.options().debug;
    options.options = heap.options().build_options;
    return Program(device, {{name, "#include \"kma/" + file + "\"\n"}}, options);
}

std::uint64_t longest_block(const Heap &heap, std::uint64_t longest_of_all)
{
    std::uint64_t bytes = std::min(longest_of_all, heap.bytes() / 64);
    if (const std::uint64_t superblock = heap.options().superblock_bytes; superblock != 0)
        bytes = std::min(bytes, superblock / 2);
    return std::bit_floor(bytes);
}

void run(const Device &device, const cl::Kernel &kernel, std::size_t work_items)
{
    device.queue().enqueueNDRangeKernel(kernel, cl::NullRange, cl::NDRange(work_items),
                                        cl::NullRange);
    device.queue().finish();
}

} // namespace kma::container_kernels
