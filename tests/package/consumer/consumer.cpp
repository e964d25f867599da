// A program of another project: each work-item keeps its number in a block, and the host looks into
// the blocks. It ends with 0 and "consumer: …" if every number is there.
#include <iostream>
#include <vector>

#include <kma/kma.hpp>

const char *const kernels = R"(
#include "kma/kma.cl"

kernel void keep(global kma_heap *heap, global kma_ref *refs)
{
    global uint *block = kma_malloc(heap, sizeof(uint));
    if (block)
        *block = get_global_id(0);
    refs[get_global_id(0)] = kma_ref_of(heap, block);
}
)";

int main()
try {
    constexpr cl_uint count = 5000;
    kma::Device device = kma::Device::select();
    kma::Heap heap(device, 4 << 20);
    kma::Program program(device, {{"consumer.cl", kernels}});
    std::vector<kma::Ref> refs(count);
    cl::Buffer buffer(device.context(), CL_MEM_WRITE_ONLY, count * sizeof(kma::Ref));
    cl::Kernel keep = program.kernel("keep");
    heap.set_arg(keep, 0);
    keep.setArg(1, buffer);
    device.queue().enqueueNDRangeKernel(keep, cl::NullRange, cl::NDRange(count));
    device.queue().enqueueReadBuffer(buffer, CL_TRUE, 0, count * sizeof(kma::Ref), refs.data());

    const kma::Snapshot snapshot = heap.snapshot();
    cl_uint found = 0;
    for (cl_uint i = 0; i < count; i++)
        found += refs[i] != 0 && *snapshot.deref<cl_uint>(refs[i]) == i;
    std::cout << heap.error_text() << "consumer: " << found << " of " << count << " numbers in "
              << heap.stats().blocks << " blocks\n";
    return found == count ? 0 : 1;
} catch (const std::exception &error) {
    std::cerr << "consumer: " << error.what() << '\n';
    return 1;
}
