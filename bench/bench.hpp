// The tools of a suite: a kind of heap on a device, its program, the kernels' shared arrays, a
// clock, and the report.
#pragma once

#include <array>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "battery.hpp"
#include "heaps.hpp"

namespace bench {

/// The bytes that work-item t requests: `low`, or with a span above 1 `low + kma_mix32(t) % span`.
struct Sizes {
    cl_uint low, span = 1;

    cl_uint of(std::uint32_t t) const;
    /// The sum over work-items 0 to n - 1, each rounded up to 16.
    std::uint64_t total(std::size_t n) const;
    /// "bytes": the size, or "low..largest" where there are several.
    Parameter parameter() const;
};

/// Work-items of a work-group, in all suites.
constexpr std::size_t work_group = 256;

/// The kernels' counts, as in paint.cl.
struct Counts {
    cl_uint nulls, wrong, lowest, highest;
};

/// Samples of one or more times per round, and whether the rounds were stopped early.
struct Rounds {
    std::vector<std::vector<double>> ms; ///< one vector of samples for each time
    double longest = 0; ///< milliseconds of the round that stopped the series; 0: none did
};

class Bench {
public:
    /// Builds no program and allocates no heap yet.
    Bench(const kma::Device &device, const conformance::HeapType &type, const Options &options,
          Report &report, std::function<void(const std::string &)> progress);

    const kma::Device &device() const { return device_; }
    const char *name() const { return type_.name(); }
    bool gpu() const { return gpu_; }
    bool quick() const { return options_.quick; }
    /// Whether the heap reuses freed memory. If not, it is reset before each round, outside the
    /// timing.
    bool reuses() const;
    std::uint64_t heap_bytes() const { return report_.heap_bytes; }
    unsigned compute_units() const;
    /// The compiler's log for heap.cl.
    std::string build_log() { return program_of("heap.cl").log(); }

    /// The heap that most suites share; made by the first call.
    kma::Heap &heap();
    kma::Heap new_heap(std::uint64_t bytes, int debug = 0) const;
    /// Builds a program of these units for heaps of this kind.
    kma::Program program(const std::vector<kma::Source> &units, int debug) const;

    /// Arrays of at least `slots` words, kept between suites: each slot's ref, its requested bytes,
    /// and scratch words.
    cl::Buffer refs(std::size_t slots) { return array("refs", slots); }
    cl::Buffer sizes(std::size_t slots) { return array("sizes", slots); }
    cl::Buffer array(const std::string &use, std::size_t words);
    std::vector<cl_uint> read(const cl::Buffer &words, std::size_t count) const;
    void fill(const cl::Buffer &words, std::size_t count, cl_uint value);

    /// Runs a kernel of heap.cl, plain.cl or a suite's own file in groups of `work_group`, and
    /// returns its milliseconds by the device's clock. The first kernel of a file builds it.
    template <class... Args>
    double time(const char *kernel_name, std::size_t work_items, const Args &...args)
    {
        cl::Kernel &kernel = this->kernel(kernel_name);
        cl_uint index = 0;
        (set_arg(kernel, index++, args), ...);
        return launch(kernel, work_items);
    }

    /// A buffer of counts, set to 0.
    cl::Buffer no_counts();
    Counts counts();

    /// Calls `round` twice to warm up, then seven times, and returns the results of these. A round
    /// of more than two seconds is the last one.
    Rounds measure(const std::function<std::vector<double>()> &round, bool warm_up = true) const;

    /// Adds a row for time number `which` of these rounds, and a note if they were stopped early.
    void add(Row row, const Rounds &rounds, std::size_t which = 0, double factor = 1);
    void add(Row row);
    /// Adds a note about the suite, or about a line of it. `subject`: by default the heap's name.
    void note(const std::string &suite, const std::string &sentence,
              const std::string &subject = {});
    void note(const std::string &suite, const Parameters &line, const std::string &sentence,
              const std::string &subject = {}, bool too_large = false);
    void progress(const std::string &suite, const std::string &doing) const;

    /// Adds the row that every suite has: an empty kernel by the same clock.
    void empty_kernel(const std::string &suite);

private:
    cl::Kernel &kernel(const std::string &name);
    const kma::Program &program_of(const std::string &file);
    double launch(cl::Kernel &kernel, std::size_t work_items) const;
    static void set_arg(cl::Kernel &kernel, cl_uint index, const kma::Heap &heap)
    {
        heap.set_arg(kernel, index);
    }
    static void set_arg(cl::Kernel &kernel, cl_uint index, const cl::Buffer &buffer)
    {
        kernel.setArg(index, buffer);
    }
    template <class T>
    requires std::is_arithmetic_v<T>
    static void set_arg(cl::Kernel &kernel, cl_uint index, T value) { kernel.setArg(index, value); }

    const kma::Device &device_;
    const conformance::HeapType &type_;
    const Options &options_;
    Report &report_;
    std::function<void(const std::string &)> progress_;
    bool gpu_;
    std::map<std::string, kma::Program> programs_; ///< by file
    std::map<std::string, cl::Kernel> kernels_;
    std::map<std::string, cl::Buffer> arrays_;
    std::unique_ptr<kma::Heap> heap_;
};

/// Milliseconds after which a series of kernels ends.
constexpr double longest_series = 10'000;

} // namespace bench
