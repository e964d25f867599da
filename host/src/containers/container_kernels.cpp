// Shared code of the containers' host side.
#include "containers/container_kernels.hpp"

#include <algorithm>
#include <bit>

#include "heap/common/driver.hpp"

namespace kma::container_kernels {

std::uint64_t longest_block(const Heap &heap, std::uint64_t longest_of_all)
{
    std::uint64_t bytes = std::min(longest_of_all, heap.bytes() / 64);
    if (const std::uint64_t superblock = largest_request(heap.options()); superblock != 0)
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
