#include "bench.hpp"

#include <algorithm>
#include <iterator>

namespace test {
/// The conformance suite's kernels; words.cl is used here.
const std::vector<kma::Source> &kernels();
} // namespace test

namespace bench {

/// The .cl files of this folder, embedded by the build.
const std::vector<kma::Source> &kernels();

namespace {

constexpr double longest_round = 2000; // milliseconds; a longer round is the last one

bool can(const conformance::HeapType &type, conformance::Ability ability)
{
    return conformance::Subject{&type, {}, 0}.can(ability);
}

kma::Program build(const kma::Device &device, const std::string &file,
                   const conformance::HeapType &type, const Options &options)
{
    kma::ProgramOptions build;
    build.heap = type.kind;
    build.headers = options.replaced;
    build.options = can(type, conformance::Ability::know_blocks) ? "-DBENCH_KNOWS_SIZES=1"
                                                                 : "-DBENCH_KNOWS_SIZES=0";
    if (device.has_extension("cl_nv_compiler_options"))
        build.options += " -cl-nv-verbose"; // the log names the registers
    std::vector<kma::Source> units;
    for (const kma::Source &source : kernels())
        (source.name == file ? units : build.headers).push_back(source);
    std::ranges::copy_if(test::kernels(), std::back_inserter(build.headers),
                         [](const kma::Source &source) { return source.name == "words.cl"; });
    return {device, units, build};
}

// The file that defines this kernel; heap.cl if there is none: its program then reports the missing
// kernel.
std::string file_of(const std::string &kernel)
{
    for (const char *file : {"plain.cl", "adjacency.cl", "lists.cl", "near_full.cl", "sparse.cl"})
        for (const kma::Source &source : kernels())
            if (source.name == file &&
                source.text.find("kernel void " + kernel + "(") != std::string::npos)
                return file;
    return "heap.cl";
}

} // namespace

cl_uint Sizes::of(std::uint32_t t) const
{
    return span > 1 ? low + test::mix32(t) % span : low;
}

std::uint64_t Sizes::total(std::size_t n) const
{
    if (span <= 1)
        return n * ((low + 15ull) / 16 * 16);
    std::uint64_t sum = 0;
    for (std::size_t t = 0; t < n; t++)
        sum += (of(static_cast<std::uint32_t>(t)) + 15ull) / 16 * 16;
    return sum;
}

Parameter Sizes::parameter() const
{
    if (span <= 1)
        return {"bytes", low};
    return {"bytes", std::to_string(low) + ".." + std::to_string(low + span - 1)};
}

Bench::Bench(const kma::Device &device, const conformance::HeapType &type, const Options &options,
             Report &report, std::function<void(const std::string &)> progress)
    : device_(device), type_(type), options_(options), report_(report),
      progress_(std::move(progress)),
      gpu_(device.device().getInfo<CL_DEVICE_TYPE>() & CL_DEVICE_TYPE_GPU)
{
}

bool Bench::reuses() const
{
    return can(type_, conformance::Ability::reuse);
}

unsigned Bench::compute_units() const
{
    return device_.device().getInfo<CL_DEVICE_MAX_COMPUTE_UNITS>();
}

kma::Heap &Bench::heap()
{
    if (!heap_)
        heap_ = std::make_unique<kma::Heap>(new_heap(heap_bytes()));
    return *heap_;
}

kma::Heap Bench::new_heap(std::uint64_t bytes, int debug) const
{
    return {device_, bytes, {.kind = type_.kind, .debug = debug}};
}

kma::Program Bench::program(const std::vector<kma::Source> &units, int debug) const
{
    kma::ProgramOptions options;
    options.heap = type_.kind;
    options.headers = options_.replaced;
    options.debug = debug;
    return {device_, units, options};
}

cl::Buffer Bench::array(const std::string &use, std::size_t words)
{
    cl::Buffer &buffer = arrays_[use];
    if (!buffer() || buffer.getInfo<CL_MEM_SIZE>() < words * sizeof(cl_uint)) {
        buffer = cl::Buffer(); // frees the old one first
        buffer = cl::Buffer(device_.context(), CL_MEM_READ_WRITE, words * sizeof(cl_uint));
    }
    return buffer;
}

std::vector<cl_uint> Bench::read(const cl::Buffer &words, std::size_t count) const
{
    std::vector<cl_uint> values(count);
    device_.queue().enqueueReadBuffer(words, CL_TRUE, 0, count * sizeof(cl_uint), values.data());
    return values;
}

void Bench::fill(const cl::Buffer &words, std::size_t count, cl_uint value)
{
    time("fill_words", count, words, value);
}

cl::Buffer Bench::no_counts()
{
    const Counts none{0, 0, ~cl_uint{0}, 0};
    const cl::Buffer buffer = array("counts", sizeof(Counts) / sizeof(cl_uint));
    device_.queue().enqueueWriteBuffer(buffer, CL_TRUE, 0, sizeof(none), &none);
    return buffer;
}

Counts Bench::counts()
{
    Counts found;
    device_.queue().enqueueReadBuffer(array("counts", sizeof(Counts) / sizeof(cl_uint)), CL_TRUE, 0,
                                      sizeof(found), &found);
    return found;
}

cl::Kernel &Bench::kernel(const std::string &name)
{
    const auto known = kernels_.find(name);
    if (known != kernels_.end())
        return known->second;
    return kernels_.emplace(name, program_of(file_of(name)).kernel(name)).first->second;
}

const kma::Program &Bench::program_of(const std::string &file)
{
    auto program = programs_.find(file);
    if (program == programs_.end()) {
        progress_(std::string(name()) + ": building " + file);
        program = programs_.emplace(file, build(device_, file, type_, options_)).first;
    }
    return program->second;
}

double Bench::launch(cl::Kernel &kernel, std::size_t work_items) const
{
    cl::Event event;
    device_.queue().enqueueNDRangeKernel(kernel, cl::NullRange, cl::NDRange(work_items),
                                         cl::NDRange(std::min(work_items, work_group)), nullptr,
                                         &event);
    event.wait();
    return static_cast<double>(event.getProfilingInfo<CL_PROFILING_COMMAND_END>() -
                               event.getProfilingInfo<CL_PROFILING_COMMAND_START>()) *
           1e-6;
}

Rounds Bench::measure(const std::function<std::vector<double>()> &round, bool warm_up) const
{
    const int unused = !warm_up ? 0 : quick() ? 1 : 2;
    const int counted = quick() ? 3 : 7;
    Rounds rounds;
    for (int i = 0; i < unused + counted; i++) {
        const std::vector<double> times = round();
        const double longest = std::ranges::max(times);
        const bool too_long = longest > longest_round;
        if (i < unused && !too_long)
            continue;
        rounds.ms.resize(times.size());
        for (std::size_t which = 0; which < times.size(); which++)
            rounds.ms[which].push_back(times[which]);
        if (too_long) {
            rounds.longest = longest;
            break;
        }
    }
    return rounds;
}

void Bench::add(Row row, const Rounds &rounds, std::size_t which, double factor)
{
    row.figure = statistics(scaled(rounds.ms[which], factor));
    row.rounds = rounds.ms[which].size();
    if (rounds.longest != 0 && which == 0)
        note(row.suite, row.parameters,
             "was stopped after " + std::to_string(row.rounds) + " rounds: one took " +
                 std::to_string(static_cast<int>(rounds.longest)) + " ms",
             row.heap);
    add(std::move(row));
}

void Bench::add(Row row)
{
    if (row.heap.empty())
        row.heap = name();
    report_.rows.push_back(std::move(row));
}

void Bench::note(const std::string &suite, const std::string &sentence, const std::string &subject)
{
    note(suite, Parameters{}, sentence, subject);
}

void Bench::note(const std::string &suite, const Parameters &line, const std::string &sentence,
                 const std::string &subject, bool too_large)
{
    report_.notes.push_back({suite, subject.empty() ? name() : subject, line, sentence, too_large});
}

void Bench::progress(const std::string &suite, const std::string &doing) const
{
    progress_(std::string(name()) + ", " + suite + ": " + doing);
}

void Bench::empty_kernel(const std::string &suite)
{
    const cl::Buffer room = refs(1);
    const Rounds rounds =
        measure([&] { return std::vector{time("empty", work_group, heap(), room)}; });
    add({.suite = suite,
         .heap = {},
         .parameters = {{"work_items", work_group}},
         .metric = "empty_kernel",
         .unit = "ms",
         .figure = {}},
        rounds);
}

} // namespace bench
