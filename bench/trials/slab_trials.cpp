// Runs the loops of slab_trials.cl on a device and prints their times: docs/slab-design.md says what for.
//
//   slab_trials [--work-items N] [--places LOG2] [--options "COMPILER OPTIONS"]
//
// The device is that of KMA_DEVICE. Each line: two rounds to warm up, then seven; in each the counters are set back
// first, so that the same memory is used again. After a round's malloc, once and not timed, all blocks must be apart.
#include <algorithm>
#include <array>
#include <cstdio>
#include <exception>
#include <map>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "kma/device.hpp"
#include "kma/program.hpp"
#include "kma/source.hpp"
#include "statistics.hpp"

namespace trials {
/// slab_trials.cl; of the build.
const std::vector<kma::Source> &kernels();
} // namespace trials

namespace {

constexpr std::size_t work_group = 256;
constexpr std::size_t slabs = std::size_t{1} << 18; // of 64 KiB: 16 GiB
constexpr cl_uint no_spot = 0xffffffff;

struct Arguments {
    std::size_t work_items = std::size_t{1} << 20;
    unsigned log_places = 4;
    std::string options;
};

class Trials {
public:
    explicit Trials(const Arguments &arguments) : arguments_(arguments), device_(kma::Device::select()) {}

    const kma::Device &device() const { return device_; }

    // Words that are 0, kept under a name.
    cl::Buffer words(const std::string &name, std::size_t count)
    {
        const auto found = words_.find(name);
        if (found != words_.end())
            return found->second;
        cl::Buffer made(device_.context(), CL_MEM_READ_WRITE, count * sizeof(cl_uint));
        clear(made);
        return words_.emplace(name, made).first->second;
    }

    void clear(const cl::Buffer &words) const
    {
        cl::Kernel kernel = program(1, false).kernel("clear");
        kernel.setArg(0, words);
        kernel.setArg(1, static_cast<cl_ulong>(words.getInfo<CL_MEM_SIZE>() / sizeof(cl_uint)));
        device_.queue().enqueueNDRangeKernel(kernel, cl::NullRange, cl::NDRange(std::size_t{1} << 16),
                                             cl::NDRange(work_group));
    }

    // The kernel's milliseconds.
    double run(const std::string &name, cl_uint units_each, bool cold, const std::vector<cl::Buffer> &arguments,
               cl_uint mix = 0)
    {
        cl::Kernel kernel = program(units_each, cold, mix).kernel(name);
        for (cl_uint i = 0; i < arguments.size(); i++)
            kernel.setArg(i, arguments[i]);
        cl::Event event;
        device_.queue().enqueueNDRangeKernel(kernel, cl::NullRange, cl::NDRange(arguments_.work_items),
                                             cl::NDRange(work_group), nullptr, &event);
        event.wait();
        return static_cast<double>(event.getProfilingInfo<CL_PROFILING_COMMAND_END>() -
                                   event.getProfilingInfo<CL_PROFILING_COMMAND_START>()) *
               1e-6;
    }

    // How many refs are none, or nearer to the one before than a block's size.
    std::size_t count_wrong(const cl::Buffer &refs, cl_uint units_each) const
    {
        std::vector<cl_uint> read(arguments_.work_items);
        device_.queue().enqueueReadBuffer(refs, CL_TRUE, 0, read.size() * sizeof(cl_uint), read.data());
        std::sort(read.begin(), read.end());
        std::size_t wrong = 0;
        for (std::size_t i = 0; i < read.size(); i++)
            wrong += read[i] == no_spot || (i > 0 && read[i] - read[i - 1] < units_each) ? 1 : 0;
        return wrong;
    }

    std::size_t work_items() const { return arguments_.work_items; }

private:
    kma::Program program(cl_uint units_each, bool cold, cl_uint mix = 0) const
    {
        const std::string options = "-DK=" + std::to_string(units_each) + " -DCOLD=" + (cold ? "1" : "0") +
                                    " -DMIX=" + std::to_string(mix) +
                                    " -DLOG_PLACES=" + std::to_string(arguments_.log_places) + " " + arguments_.options;
        return {device_, trials::kernels(), {.options = options}};
    }

    Arguments arguments_;
    kma::Device device_;
    std::map<std::string, cl::Buffer> words_;
};

struct Trial {
    const char *what;
    const char *allocate;
    const char *release;              // nullptr: by the counters alone
    std::vector<const char *> shared; // arrays of both, between the counters and the refs
    cl_uint units_each;               // 0: many sizes, of which any two are apart by 1 at least
    bool cold = false;
    cl_uint mix = 0; // sizes of 1 to so many units
};

// Units for the largest size, each work-item being a group of its own, and some more, since places get unequal shares.
std::size_t size_of(const std::string &array, std::size_t work_items)
{
    const std::size_t units = work_items * 80 + slabs * 32;
    const std::map<std::string, std::size_t> sizes = {{"used", units / 32},  {"begins", units / 32}, {"owners", units},
                                                      {"marks", units / 16}, {"words", units},       {"slabs", slabs},
                                                      {"bits", slabs * 128}};
    return sizes.at(array);
}

// Returns how many blocks were wrong.
std::size_t measure(Trials &trials, const Trial &trial)
{
    const cl::Buffer cursors = trials.words("cursors", 1 << 16);
    const cl::Buffer refs = trials.words("refs", trials.work_items());
    std::vector<cl::Buffer> shared;
    for (const char *name : trial.shared)
        shared.push_back(trials.words(name, size_of(name, trials.work_items())));
    std::vector<cl::Buffer> of_allocate = {cursors};
    of_allocate.insert(of_allocate.end(), shared.begin(), shared.end());
    of_allocate.push_back(refs);
    std::vector<cl::Buffer> of_release = shared;
    of_release.push_back(refs);
    const cl_uint units_each = std::max<cl_uint>(trial.units_each, 1);

    std::array<std::vector<double>, 2> ms;
    std::size_t wrong = 0;
    for (int round = -2; round < 7; round++) {
        trials.clear(cursors);
        if (trial.cold)
            for (const cl::Buffer &words : shared)
                trials.clear(words);
        const double allocated = trials.run(trial.allocate, units_each, trial.cold, of_allocate, trial.mix);
        if (round == -2)
            wrong = trials.count_wrong(refs, units_each);
        const double released =
            trial.release ? trials.run(trial.release, units_each, trial.cold, of_release, trial.mix) : 0;
        if (round >= 0) {
            ms[0].push_back(allocated);
            ms[1].push_back(released);
        }
    }
    for (const cl::Buffer &words : shared)
        trials.clear(words);
    std::printf("%-34s %5u B   malloc %8.4f   free %8.4f   wrong %zu\n", trial.what, trial.units_each * 16,
                bench::statistics(ms[0]).median, bench::statistics(ms[1]).median, wrong);
    return wrong;
}

std::size_t run_all(const Arguments &arguments)
{
    Trials trials(arguments);
    std::printf("%s, %zu work-items, 2^%u places, options \"%s\"; ms, median of 7\n", trials.device().name().c_str(),
                arguments.work_items, arguments.log_places, arguments.options.c_str());
    std::vector<double> empty;
    for (int round = 0; round < 9; round++)
        empty.push_back(trials.run("empty", 1, false, {trials.words("refs", arguments.work_items)}));
    std::printf("an empty kernel %.4f\n", bench::statistics(empty).median);
    std::size_t wrong = 0;
    for (const cl_uint size : {1u, 4u, 16u, 64u}) {
        wrong += measure(trials, {"counters alone", "bump_malloc", nullptr, {}, size});
        wrong += measure(trials, {"C, units", "unit_malloc", "unit_free", {"used", "begins", "owners"}, size});
        wrong += measure(trials, {"B, slabs, warm", "slab_malloc", "slab_free", {"slabs", "bits"}, size});
        wrong += measure(trials, {"B, slabs, new heap", "slab_malloc", "slab_free", {"slabs", "bits"}, size, true});
    }
    const std::vector<const char *> of_packs = {"used", "marks", "words"};
    for (const cl_uint size : {1u, 4u, 16u, 64u})
        wrong += measure(trials, {"D, packs", "pack_malloc", "pack_free", of_packs, size});
    wrong += measure(trials, {"D, packs, 4 sizes", "pack_malloc", "pack_free", of_packs, 0, false, 4});
    wrong += measure(trials, {"D, packs, 64 sizes", "pack_malloc", "pack_free", of_packs, 0, false, 64});
    wrong += measure(trials, {"64 sizes, three atomics each", "lone_malloc", "lone_free", {"slabs", "bits"}, 0});
    return wrong;
}

} // namespace

int main(int argc, char **argv)
{
    Arguments arguments;
    CLI::App app("The loops of docs/slab-design.md, timed.");
    app.add_option("--work-items", arguments.work_items, "a multiple of 256")->check(CLI::Range(256, 1 << 20));
    app.add_option("--places", arguments.log_places, "log2 of the places")->check(CLI::Range(0, 8));
    app.add_option("--options", arguments.options, "for the compiler");
    CLI11_PARSE(app, argc, argv);
    arguments.work_items -= arguments.work_items % work_group;
    try {
        return run_all(arguments) == 0 ? 0 : 1;
    } catch (const std::exception &error) {
        std::fprintf(stderr, "slab_trials: %s\n", error.what());
        return 1;
    }
}
