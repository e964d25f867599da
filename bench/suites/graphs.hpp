// Shared code of the collector's suites: object graphs of bench/collect.cl in a heap of their own.
#pragma once

#include <optional>
#include <string>

#include "suites.hpp"

namespace bench {

const std::vector<kma::Source> &kernels();

constexpr std::uint64_t thing_bytes = 32;

class Graphs {
public:
    Graphs(Bench &bench, std::uint64_t heap_bytes, const kma::CollectorOptions &options = {});

protected:
    template <class... Arguments> void run(const char *name, const Arguments &...arguments)
    {
        cl::Kernel kernel = program_.kernel(name);
        heap_.set_arg(kernel, 0);
        cl_uint index = 1;
        (kernel.setArg(index++, arguments), ...);
        const bool is_alone = std::string(name) == "make_array";
        const std::size_t items = is_alone ? 1 : bench_.gpu() ? 1u << 20 : 1u << 12;
        bench_.device().queue().enqueueNDRangeKernel(kernel, cl::NullRange, cl::NDRange(items),
                                                     cl::NDRange(is_alone ? 1 : work_group));
        bench_.device().queue().finish();
    }

    Bench &bench_;
    kma::Heap heap_;
    kma::Collector collector_;
    kma::Program program_;
    cl::Buffer root_;
    kma::Collector::Roots roots_;
};

/// Adds a row for one of a suite's times.
void add_row(Bench &bench, const char *suite, const std::string &heap, const Parameters &parameters,
             const char *metric, const Rounds &rounds, std::size_t which,
             std::optional<bool> is_right);

} // namespace bench
