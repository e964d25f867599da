// The graph sample: turns a directed graph from a file into a lock-free search tree with adjacency
// lists in a heap on the device. This file reads the input and chooses device and launch shape; its
// last line of output is the result.
#include <cinttypes>
#include <cstdio>
#include <filesystem>
#include <string>

#include "common/main.hpp"
#include "run.hpp"

namespace graph {
namespace {

Edges read_input(const Options &options)
{
    if (options.default_input && !std::filesystem::exists(options.input))
        throw kma::Error("the default input " + options.input +
                         " is missing; give a file of edges as argument");
    return read_edges(options.input, options.limit);
}

std::uint32_t choose_work_items(const Options &options, bool gpu)
{
    if (options.work_items)
        return *options.work_items;
    // A CPU runs few work-items at a time; some more balance the load.
    return gpu || options.sweep ? 65536 : 4096;
}

bool run(const Options &options)
{
    const Edges edges = read_input(options);
    const Reference reference(edges);
    const std::uint32_t from = options.from.value_or(edges.sources[0]);
    if (reference.index_of(from) == reference.nodes())
        throw kma::Error("--from " + std::to_string(from) + ": no edge has such a node");

    const kma::Device device = kma::Device::select(options.device);
    std::printf("device:  %s\n", device.name().c_str());
    std::printf("input:   %s, %zu edges\n", options.input.c_str(), edges.size());
    std::fflush(stdout);
    const bool gpu = (device.device().getInfo<CL_DEVICE_TYPE>() & CL_DEVICE_TYPE_GPU) != 0;
    const Job job{options,
                  device,
                  edges,
                  reference,
                  from,
                  choose_work_items(options, gpu),
                  options.work_group.value_or(samples::usual_work_group(device))};
    const Outcome outcome = options.sweep ? run_sweep(job) : run_once(job);
    std::fflush(stderr);
    std::printf("graph: nodes=%zu edges=%zu verified=%s\n", outcome.nodes, outcome.edges,
                outcome.verified ? "yes" : "no");
    return outcome.verified;
}

} // namespace
} // namespace graph

int main(int argc, char **argv)
{
    graph::Options options;
    if (const auto ended = graph::parse_options(argc, argv, options))
        return *ended;
    return samples::run_main("graph", [&options] { return graph::run(options); });
}
