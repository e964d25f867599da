// Runs the draft of the slab heap (kma/heap/slab.cl, beside this file) on a device and prints its times:
// docs/slab-design.md says what for.
//
//   slab_heap [--work-items N] [--mib MIB] [--kernels N] [--options "COMPILER OPTIONS"]
//
// The device is that of KMA_DEVICE. Each line: two rounds to warm up, then seven, of one kernel in which each work-item
// takes a block, and one in which it gives it back. In the first round all blocks must be there, apart, and in the
// heap. First so on a new heap, then on an aged one: half full of blocks of 16 to 4080 bytes, which have come and gone.
// Then pairs of malloc and free by one work-item and by 65,536; and a heap is filled until all requests are refused.
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
    cl_uint kernels = 500; // that make the heap old
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
          refs_(device_.context(), CL_MEM_READ_WRITE, arguments.work_items * sizeof(cl_uint)),
          old_slots_(static_cast<cl_uint>((arguments.mib << 20) / old_bytes)),
          old_(device_.context(), CL_MEM_READ_WRITE, old_slots_ * sizeof(cl_uint))
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

    // Milliseconds of a pair of malloc and free, of `work_items` at the same time.
    double pair(std::size_t work_items)
    {
        constexpr cl_uint rounds = 100;
        cl::Kernel kernel = program_.kernel("pairs");
        kernel.setArg(0, heap_);
        kernel.setArg(1, cl_uint{16});
        kernel.setArg(2, rounds);
        run(kernel, work_items);
        return run(kernel, work_items) / rounds / static_cast<double>(work_items);
    }

    // Makes the heap old: `kernels` times blocks of a window come and go.
    void age(cl_uint kernels)
    {
        device_.queue().enqueueFillBuffer(old_, cl_uint{0}, 0, old_slots_ * sizeof(cl_uint));
        cl::Kernel kernel = program_.kernel("churn");
        kernel.setArg(0, heap_);
        kernel.setArg(1, old_);
        kernel.setArg(3, old_slots_);
        const auto turn = [&](cl_uint first, cl_uint seed, cl_uint give, cl_uint come) {
            kernel.setArg(2, first);
            kernel.setArg(4, seed);
            kernel.setArg(5, give);
            kernel.setArg(6, come);
            run(kernel, std::min<std::size_t>(old_slots_ / work_group * work_group, window));
        };
        for (cl_uint first = 0; first < old_slots_; first += window)
            turn(first, 0, 0, 1u << 31);
        for (cl_uint i = 1; i <= kernels; i++)
            turn(static_cast<cl_uint>(std::size_t{i} * window % old_slots_), i * 0x9e3779b9u, 0x99999999u, 0x99999999u);
    }

    // How many of the blocks taken last are none.
    std::size_t refused() const
    {
        std::vector<cl_uint> refs(arguments_.work_items);
        device_.queue().enqueueReadBuffer(refs_, CL_TRUE, 0, refs.size() * sizeof(cl_uint), refs.data());
        return static_cast<std::size_t>(std::count(refs.begin(), refs.end(), 0u));
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
    static constexpr std::size_t old_bytes = 2048; // of an old block, on average; half of the slots have one
    static constexpr cl_uint window = 1 << 16;

    // The kernel's milliseconds.
    double run(const cl::Kernel &kernel, std::size_t work_items) const
    {
        cl::Event event;
        device_.queue().enqueueNDRangeKernel(kernel, cl::NullRange, cl::NDRange(work_items),
                                             cl::NDRange(std::min(work_items, work_group)), nullptr, &event);
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
    cl_uint old_slots_;
    cl::Buffer old_;
};

// The times of a few sizes; returns how many blocks were wrong.
std::size_t run_sizes(Trial &trial, bool is_new)
{
    std::size_t wrong = 0;
    for (const Sizes sizes :
         {Sizes{16, 1}, Sizes{64, 1}, Sizes{256, 1}, Sizes{1024, 1}, Sizes{4, 61}, Sizes{4, 1021}}) {
        std::array<std::vector<double>, 2> ms;
        if (is_new)
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
        std::printf("%s %4u to %4u B   malloc %8.4f   free %8.4f   range %6.3f   wrong %zu\n", is_new ? "new " : "aged",
                    sizes.low, sizes.low + sizes.span - 1, bench::statistics(ms[0]).median,
                    bench::statistics(ms[1]).median, seen.second, seen.first);
    }
    return wrong;
}

// Fills a new heap with blocks of 1 KiB, until all are refused.
void run_full(Trial &trial, const Arguments &arguments)
{
    trial.init();
    std::size_t served = 0, rounds = 0, refused = 0;
    double ms = 0;
    while (refused != arguments.work_items) {
        ms += trial.take({1024, 1});
        refused = trial.refused();
        served += arguments.work_items - refused;
        rounds++;
    }
    std::printf("filled with 1 KiB: %zu rounds, %.3f ms, %.1f %% served; all refused in %.3f ms\n", rounds, ms,
                100.0 * static_cast<double>(served * 1024) / static_cast<double>(arguments.mib << 20),
                trial.take({1024, 1}));
}

std::size_t run_all(const Arguments &arguments)
{
    Trial trial(arguments);
    std::printf("%s, %zu work-items, heap of %zu MiB, options \"%s\"; ms, median of 7\n", trial.device().name().c_str(),
                arguments.work_items, arguments.mib, arguments.options.c_str());
    std::size_t wrong = run_sizes(trial, true);
    trial.init();
    trial.age(arguments.kernels);
    wrong += run_sizes(trial, false);
    for (const std::size_t work_items : {std::size_t{1}, std::size_t{1} << 16}) {
        trial.init();
        std::printf("pairs of 16 B, %zu work-items: %.3f ns each\n", work_items, trial.pair(work_items) * 1e6);
    }
    run_full(trial, arguments);
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
    app.add_option("--kernels", arguments.kernels, "how many make the heap old")->check(CLI::Range(1, 10000));
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
