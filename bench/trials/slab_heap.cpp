// Runs the draft of the slab heap (kma/heap/slab.cl, beside this file) on a device and prints its times:
// docs/slab-design.md says what for.
//
//   slab_heap [--work-items N] [--mib MIB] [--options "COMPILER OPTIONS"]
//
// The device is that of KMA_DEVICE. Each line: two rounds to warm up, then seven, of one kernel in which each work-item
// takes a block, and one in which it gives it back. In the first round all blocks must be there, apart, and in the
// heap.
#include <algorithm>
#include <array>
#include <cstdio>
#include <exception>
#include <string>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>

#include "kma/device.hpp"
#include "kma/program.hpp"
#include "kma/source.hpp"
#include "statistics.hpp"

namespace trials {
/// slab_heap.cl, and what it includes beside kma's own files; of the build.
const std::vector<kma::Source> &draft();
} // namespace trials

namespace {

constexpr std::size_t work_group = 256;
constexpr cl_uint usual_cursors = 16;

struct Arguments {
    std::size_t work_items = std::size_t{1} << 20;
    std::size_t mib = 8192;
    std::string options;
};

struct Sizes {
    cl_uint low, span; // `span` sizes from `low` on
};

// As kma_mix32.
cl_uint mix32(cl_uint x)
{
    x ^= x >> 16;
    x *= 0x7feb352du;
    x ^= x >> 15;
    x *= 0x846ca68bu;
    return x ^ (x >> 16);
}

class Trial {
public:
    explicit Trial(const Arguments &arguments)
        : arguments_(arguments), device_(kma::Device::select()),
          program_(device_, {trials::draft().front()},
                   {.options = arguments.options, .headers = {trials::draft().begin() + 1, trials::draft().end()}}),
          heap_(device_.context(), CL_MEM_READ_WRITE, arguments.mib << 20),
          refs_(device_.context(), CL_MEM_READ_WRITE, arguments.work_items * sizeof(cl_uint))
    {
    }

    const kma::Device &device() const { return device_; }

    void init()
    {
        cl::Kernel kernel = program_.kernel("init");
        kernel.setArg(0, heap_);
        kernel.setArg(1, static_cast<cl_ulong>(arguments_.mib << 20));
        kernel.setArg(2, usual_cursors);
        run(kernel, std::size_t{1} << 16);
    }

    double take(Sizes sizes)
    {
        cl::Kernel kernel = program_.kernel("take");
        kernel.setArg(0, heap_);
        kernel.setArg(1, refs_);
        kernel.setArg(2, sizes.low);
        kernel.setArg(3, sizes.span);
        return run(kernel, arguments_.work_items);
    }

    double give()
    {
        cl::Kernel kernel = program_.kernel("give");
        kernel.setArg(0, heap_);
        kernel.setArg(1, refs_);
        return run(kernel, arguments_.work_items);
    }

    // How many blocks are none, reach out of the heap, or into the next one; and the memory they lie in, over what was
    // asked for in multiples of 16.
    std::pair<std::size_t, double> look(Sizes sizes) const
    {
        std::vector<cl_uint> refs(arguments_.work_items);
        device_.queue().enqueueReadBuffer(refs_, CL_TRUE, 0, refs.size() * sizeof(cl_uint), refs.data());
        std::vector<std::pair<std::uint64_t, std::uint64_t>> blocks; // first unit, and the one behind the last
        std::uint64_t asked = 0;
        for (std::size_t i = 0; i < refs.size(); i++) {
            const std::uint64_t units = (sizes.low + mix32(static_cast<cl_uint>(i)) % sizes.span + 15) / 16;
            blocks.emplace_back(refs[i], refs[i] + units);
            asked += units;
        }
        std::sort(blocks.begin(), blocks.end());
        std::size_t wrong = 0;
        for (std::size_t i = 0; i < blocks.size(); i++) {
            const std::uint64_t limit = i + 1 < blocks.size() ? blocks[i + 1].first : (arguments_.mib << 20) / 16;
            wrong += blocks[i].first == 0 || blocks[i].second > limit ? 1 : 0;
        }
        return {wrong, static_cast<double>(blocks.back().second - blocks.front().first) / static_cast<double>(asked)};
    }

private:
    // The kernel's milliseconds.
    double run(const cl::Kernel &kernel, std::size_t work_items) const
    {
        cl::Event event;
        device_.queue().enqueueNDRangeKernel(kernel, cl::NullRange, cl::NDRange(work_items), cl::NDRange(work_group),
                                             nullptr, &event);
        event.wait();
        return static_cast<double>(event.getProfilingInfo<CL_PROFILING_COMMAND_END>() -
                                   event.getProfilingInfo<CL_PROFILING_COMMAND_START>()) *
               1e-6;
    }

    Arguments arguments_;
    kma::Device device_;
    kma::Program program_;
    cl::Buffer heap_;
    cl::Buffer refs_;
};

std::size_t run_all(const Arguments &arguments)
{
    Trial trial(arguments);
    std::printf("%s, %zu work-items, heap of %zu MiB, options \"%s\"; ms, median of 7\n", trial.device().name().c_str(),
                arguments.work_items, arguments.mib, arguments.options.c_str());
    std::size_t wrong = 0;
    for (const Sizes sizes :
         {Sizes{16, 1}, Sizes{64, 1}, Sizes{256, 1}, Sizes{1024, 1}, Sizes{4, 61}, Sizes{4, 1021}}) {
        std::array<std::vector<double>, 2> ms;
        trial.init();
        std::pair<std::size_t, double> seen;
        for (int round = -2; round < 7; round++) {
            const double taken = trial.take(sizes);
            if (round == -2)
                seen = trial.look(sizes);
            const double given = trial.give();
            if (round >= 0) {
                ms[0].push_back(taken);
                ms[1].push_back(given);
            }
        }
        wrong += seen.first;
        std::printf("%4u to %4u B   malloc %8.4f   free %8.4f   range %6.3f   wrong %zu\n", sizes.low,
                    sizes.low + sizes.span - 1, bench::statistics(ms[0]).median, bench::statistics(ms[1]).median,
                    seen.second, seen.first);
    }
    return wrong;
}

} // namespace

int main(int argc, char **argv)
{
    Arguments arguments;
    CLI::App app("The draft of the slab heap of docs/slab-design.md, timed.");
    app.add_option("--work-items", arguments.work_items, "a multiple of 256")->check(CLI::Range(256, 1 << 20));
    app.add_option("--mib", arguments.mib, "size of the heap; 1 KiB for each work-item must have room")
        ->check(CLI::Range(16, 32768));
    app.add_option("--options", arguments.options, "for the compiler");
    CLI11_PARSE(app, argc, argv);
    arguments.work_items -= arguments.work_items % work_group;
    try {
        return run_all(arguments) == 0 ? 0 : 1;
    } catch (const std::exception &error) {
        std::fprintf(stderr, "slab_heap: %s\n", error.what());
        return 1;
    }
}
