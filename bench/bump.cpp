// Times one kma_malloc per work-item on the bump heap: fresh memory, and a heap that is full. Usage: bench_bump [DEVICE]
#include <algorithm>
#include <cstdio>
#include <exception>
#include <vector>

#include <kma/kma.hpp>

namespace {

constexpr std::size_t work_items = 1 << 20;
constexpr std::size_t work_group = 256;
constexpr int warm_up = 2;
constexpr int rounds = 7;

const char *const source = R"(
#include "kma/kma.cl"
kernel void nothing(global kma_heap *heap, uint bytes, global kma_ref *refs) {}
kernel void allocate(global kma_heap *heap, uint bytes, global kma_ref *refs)
{
    refs[get_global_id(0)] = kma_ref_of(heap, kma_malloc(heap, bytes));
}
)";

// Median milliseconds of a kernel; the heap is reset before each round if `fresh`.
double time(const kma::Device &device, kma::Heap &heap, cl::Kernel kernel, cl_uint bytes, const cl::Buffer &refs,
            bool fresh)
{
    heap.set_arg(kernel, 0);
    kernel.setArg(1, bytes);
    kernel.setArg(2, refs);
    std::vector<double> times;
    for (int round = 0; round < warm_up + rounds; round++) {
        if (fresh)
            heap.reset();
        cl::Event event;
        device.queue().enqueueNDRangeKernel(kernel, cl::NullRange, cl::NDRange(work_items), cl::NDRange(work_group),
                                            nullptr, &event);
        event.wait();
        const auto begin = event.getProfilingInfo<CL_PROFILING_COMMAND_START>();
        const auto end = event.getProfilingInfo<CL_PROFILING_COMMAND_END>();
        if (round >= warm_up)
            times.push_back(static_cast<double>(end - begin) * 1e-6);
    }
    std::sort(times.begin(), times.end());
    return times[rounds / 2];
}

// NULLs among the refs of the last round.
std::size_t nulls(const kma::Device &device, const cl::Buffer &refs)
{
    std::vector<kma::Ref> read(work_items);
    device.queue().enqueueReadBuffer(refs, CL_TRUE, 0, work_items * sizeof(kma::Ref), read.data());
    return static_cast<std::size_t>(std::count(read.begin(), read.end(), 0u));
}

void run(const char *wanted)
{
    const kma::Device device = kma::Device::select(wanted);
    const kma::Program program(device, {{"bench/bump.cl", source}});
    const cl::Buffer refs(device.context(), CL_MEM_READ_WRITE, work_items * sizeof(kma::Ref));
    std::printf("%s, %zu work-items in groups of %zu, median of %d\n", device.name().c_str(), work_items, work_group,
                rounds);
    std::printf("%-24s %10s %10s\n", "", "ms", "NULLs");
    for (const cl_uint bytes : {16u, 64u, 256u}) {
        kma::Heap heap(device, kma::Heap::bytes_for(kma::HeapKind::bump, std::uint64_t{bytes} * work_items));
        const double ms = time(device, heap, program.kernel("allocate"), bytes, refs, true);
        std::printf("malloc(%3u)              %10.4f %10zu\n", bytes, ms, nulls(device, refs));
    }
    kma::Heap small(device, 1 << 20);
    const double full = time(device, small, program.kernel("allocate"), 64, refs, false);
    std::printf("malloc(64), full heap    %10.4f %10zu\n", full, nulls(device, refs));
    std::printf("empty kernel             %10.4f\n", time(device, small, program.kernel("nothing"), 64, refs, false));
}

} // namespace

int main(int argc, char **argv)
{
    try {
        run(argc > 1 ? argv[1] : "");
    } catch (const cl::Error &error) {
        std::fprintf(stderr, "bench_bump: OpenCL's %s failed with error %d\n", error.what(), error.err());
        return 1;
    } catch (const std::exception &error) {
        std::fprintf(stderr, "bench_bump: %s\n", error.what());
        return 1;
    }
}
