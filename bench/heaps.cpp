// Times the heaps' own functions: one malloc and one free per work-item at several sizes, malloc on a full heap, the
// preparation of a heap, and malloc-free pairs by more and more work-items (Spliet, thesis 6.2.1).
// Usage: bench_heaps [DEVICE [HEAP_BYTES]]. Medians of kernels' times by the device's clock; no reset in between.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <vector>

#include <kma/kma.hpp>

namespace {

constexpr std::size_t work_group = 256;
constexpr int warm_up = 2;
constexpr int rounds = 7;
constexpr kma::HeapKind kinds[] = {kma::HeapKind::bump, kma::HeapKind::superblock};

const char *const source = R"(
#include "kma/kma.cl"
kernel void nothing(global kma_heap *heap, global kma_ref *refs) {}
kernel void allocate(global kma_heap *heap, global kma_ref *refs, uint bytes)
{
    refs[get_global_id(0)] = kma_ref_of(heap, kma_malloc(heap, bytes));
}
kernel void release(global kma_heap *heap, global kma_ref *refs)
{
    kma_free(heap, kma_deref(heap, refs[get_global_id(0)]));
}
// 100 pairs each. Variance 0: 4 bytes; 1: 4 or 8; 2: 1 to 16. With variance one work-item takes 4000 bytes. Writes how
// many pairs got no memory.
kernel void pairs(global kma_heap *heap, global kma_ref *refs, uint variance)
{
    const uint me = (uint)get_global_id(0);
    uint nulls = 0;
    for (uint i = 0; i < 100; i++) {
        uint bytes = variance == 0 ? 4 : variance == 1 ? 4 << (me % 2) : 1 << ((me + i) % 5);
        if (variance != 0 && me == 0)
            bytes = 4000;
        global uchar *block = kma_malloc(heap, bytes);
        if (block)
            *block = (uchar)i;
        nulls += !block;
        kma_free(heap, block);
    }
    refs[me] = nulls;
}
)";

double milliseconds(const cl::Event &event)
{
    event.wait();
    return static_cast<double>(event.getProfilingInfo<CL_PROFILING_COMMAND_END>() -
                               event.getProfilingInfo<CL_PROFILING_COMMAND_START>()) *
           1e-6;
}

double median(std::vector<double> times)
{
    std::sort(times.begin(), times.end());
    return times[times.size() / 2];
}

class Bench {
public:
    Bench(const kma::Device &device, kma::HeapKind kind, std::uint64_t heap_bytes, std::size_t most_work_items)
        : device_(device), heap_(device, heap_bytes, {.kind = kind}),
          program_(device, {{"bench.cl", source}}, options(kind)),
          refs_(device.context(), CL_MEM_READ_WRITE, most_work_items * sizeof(kma::Ref))
    {
    }

    double run(const char *name, std::size_t work_items, cl_uint argument = 0)
    {
        cl::Kernel kernel = program_.kernel(name);
        heap_.set_arg(kernel, 0);
        kernel.setArg(1, refs_);
        if (kernel.getInfo<CL_KERNEL_NUM_ARGS>() > 2)
            kernel.setArg(2, argument);
        cl::Event event;
        device_.queue().enqueueNDRangeKernel(kernel, cl::NullRange, cl::NDRange(work_items),
                                             cl::NDRange(std::min(work_items, work_group)), nullptr, &event);
        return milliseconds(event);
    }

    std::uint64_t refs_sum(std::size_t count, bool zeroes) const
    {
        std::vector<kma::Ref> refs(count);
        device_.queue().enqueueReadBuffer(refs_, CL_TRUE, 0, count * sizeof(kma::Ref), refs.data());
        std::uint64_t sum = 0;
        for (const kma::Ref ref : refs)
            sum += zeroes ? ref == 0 : ref;
        return sum;
    }

    kma::Heap &heap() { return heap_; }

private:
    static kma::ProgramOptions options(kma::HeapKind kind)
    {
        kma::ProgramOptions options;
        options.heap = kind;
        return options;
    }

    const kma::Device &device_;
    kma::Heap heap_;
    kma::Program program_;
    cl::Buffer refs_;
};

void uniform(const kma::Device &device, kma::HeapKind kind, std::uint64_t heap_bytes, std::size_t work_items)
{
    std::printf("\n%s heap of %llu MiB: one malloc, then one free per work-item, ms\n", name_of(kind),
                static_cast<unsigned long long>(heap_bytes >> 20));
    std::printf("%10s %8s %10s %10s %10s %8s\n", "work-items", "bytes", "cold", "malloc", "free", "NULLs");
    for (const cl_uint bytes : {16u, 64u, 256u, 1024u, 4096u}) {
        const std::size_t count =
            std::min<std::size_t>(bytes > 1024 ? work_items / 8 : work_items, heap_bytes / 2 / bytes);
        Bench bench(device, kind, heap_bytes, count);
        double cold = 0;
        std::vector<double> allocate, release;
        std::uint64_t nulls = 0;
        for (int round = 0; round < warm_up + rounds; round++) {
            if (kind == kma::HeapKind::bump)
                bench.heap().reset();
            const double malloc_time = bench.run("allocate", count, bytes);
            nulls += bench.refs_sum(count, true);
            const double free_time = bench.run("release", count);
            if (round == 0)
                cold = malloc_time;
            if (round >= warm_up) {
                allocate.push_back(malloc_time);
                release.push_back(free_time);
            }
        }
        std::printf("%10zu %8u %10.4f %10.4f %10.4f %8llu\n", count, bytes, cold, median(allocate), median(release),
                    static_cast<unsigned long long>(nulls));
    }
}

void full(const kma::Device &device, kma::HeapKind kind, std::size_t work_items)
{
    Bench bench(device, kind, 4 << 20, work_items);
    bench.run("allocate", work_items, 64); // four times what there is
    std::vector<double> times, nothing;
    for (int round = 0; round < rounds; round++) {
        times.push_back(bench.run("allocate", work_items, 64));
        nothing.push_back(bench.run("nothing", work_items));
    }
    std::printf("\n%s heap, full: %zu mallocs %.4f ms, of them NULL %llu; empty kernel %.4f ms\n", name_of(kind),
                work_items, median(times), static_cast<unsigned long long>(bench.refs_sum(work_items, true)),
                median(nothing));
}

void prepare(const kma::Device &device, kma::HeapKind kind, std::uint64_t heap_bytes)
{
    const kma::Heap heap(device, heap_bytes, {.kind = kind});
    const std::string name = name_of(kind);
    const kma::Program program(device, {{"prepare.cl", "#include \"kma/kernels/" + name + "_kernels.cl\"\n"}});
    cl::Kernel reset = program.kernel("kma_" + name + "_reset_kernel");
    heap.set_arg(reset, 0);
    std::vector<double> times;
    for (int round = 0; round < warm_up + rounds; round++) {
        cl::Event event;
        device.queue().enqueueNDRangeKernel(reset, cl::NullRange,
                                            cl::NDRange(std::max<std::size_t>(heap_bytes >> 15, 64)), cl::NDRange(64),
                                            nullptr, &event);
        if (const double time = milliseconds(event); round >= warm_up)
            times.push_back(time);
    }
    std::printf("%s heap of %llu MiB: prepared in %.4f ms\n", name.c_str(),
                static_cast<unsigned long long>(heap_bytes >> 20), median(times));
}

void pairs(const kma::Device &device, kma::HeapKind kind, std::uint64_t heap_bytes, std::size_t most)
{
    std::printf("\n%s heap: 100 pairs of malloc and free by each work-item, ms (ns per pair)\n", name_of(kind));
    std::printf("%10s %22s %22s %22s %8s\n", "work-items", "no variance", "low variance", "high variance", "NULLs");
    Bench bench(device, kind, heap_bytes, most);
    for (std::size_t count = 1; count <= most; count *= 4) {
        std::printf("%10zu", count);
        std::uint64_t nulls = 0;
        for (const cl_uint variance : {0u, 1u, 2u}) {
            std::vector<double> times;
            for (int round = 0; round < warm_up + rounds; round++) {
                if (kind == kma::HeapKind::bump)
                    bench.heap().reset();
                if (const double time = bench.run("pairs", count, variance); round >= warm_up)
                    times.push_back(time);
                nulls += bench.refs_sum(count, false);
            }
            std::printf(" %10.4f (%9.3f)", median(times), median(times) * 1e6 / (100.0 * static_cast<double>(count)));
        }
        std::printf(" %8llu\n", static_cast<unsigned long long>(nulls));
    }
}

void run(int argc, char **argv)
{
    const kma::Device device = kma::Device::select(argc > 1 ? argv[1] : "");
    const bool gpu = device.device().getInfo<CL_DEVICE_TYPE>() & CL_DEVICE_TYPE_GPU;
    const std::uint64_t heap_bytes = argc > 2 ? std::strtoull(argv[2], nullptr, 0) : gpu ? 8ull << 30 : 256 << 20;
    std::printf("%s; median of %d after %d\n", device.name().c_str(), rounds, warm_up);
    for (const kma::HeapKind kind : kinds) {
        uniform(device, kind, heap_bytes, gpu ? 1 << 20 : 1 << 17);
        full(device, kind, 1 << 20);
        prepare(device, kind, heap_bytes);
        pairs(device, kind, heap_bytes, gpu ? 1 << 16 : 1 << 12);
        std::fflush(stdout);
    }
}

} // namespace

int main(int argc, char **argv)
{
    try {
        run(argc, argv);
    } catch (const cl::Error &error) {
        std::fprintf(stderr, "bench_heaps: OpenCL's %s failed with error %d\n", error.what(), error.err());
        return 1;
    } catch (const std::exception &error) {
        std::fprintf(stderr, "bench_heaps: %s\n", error.what());
        return 1;
    }
}
