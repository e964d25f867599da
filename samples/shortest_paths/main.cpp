// The shortest paths sample: turns a directed graph from a file, with weights from a hash, into
// lists in a heap on the device; rounds of work find the distances from one node. This file reads
// the input; its last line of output is the result.
#include <algorithm>
#include <chrono>
#include <cinttypes>
#include <cstdio>
#include <filesystem>
#include <numeric>
#include <string>
#include <utility>

#include "common/main.hpp"
#include "device_paths.hpp"
#include "dijkstra.hpp"
#include "options.hpp"

namespace paths {
namespace {

using Clock = std::chrono::steady_clock;

graph::Edges read_input(const Options &options)
{
    if (options.default_input && !std::filesystem::exists(options.input))
        throw kma::Error("the default input " + options.input +
                         " is missing; give a file of edges as argument");
    graph::Edges edges = graph::read_edges(options.input, options.limit);
    if (options.reverse)
        std::swap(edges.sources, edges.sinks);
    return edges;
}

// Throws if a distance may need more than 32 bits: a shortest path visits each node at most once.
void check_weight(std::uint32_t most_weight, std::size_t nodes)
{
    if ((nodes - 1) * std::uint64_t{most_weight} >= far)
        throw kma::Error("--most-weight " + std::to_string(most_weight) + " is too much for " +
                         std::to_string(nodes) + " nodes: a distance may exceed 32 bits; " +
                         std::to_string((far - 1) / (nodes - 1)) + " is the most");
}

void print_rounds(const Run &run)
{
    std::printf("build:   %.3f ms\n", run.build_milliseconds);
    std::printf("rounds:  %.3f ms; %zu, with %" PRIu64 " items in all, %" PRIu32
                " in the largest\n",
                run.milliseconds, run.items.size(),
                std::accumulate(run.items.begin(), run.items.end(), std::uint64_t{0}),
                *std::max_element(run.items.begin(), run.items.end()));
}

bool run(const Options &options)
{
    const graph::Edges edges = read_input(options);
    const graph::Reference graph(edges);
    const std::uint32_t from = options.from.value_or(edges.sources[0]);
    const std::size_t start = graph.index_of(from);
    if (start == graph.nodes())
        throw kma::Error("--from " + std::to_string(from) + ": no edge has such a node");
    check_weight(options.most_weight, graph.nodes());
    const kma::Device device = kma::Device::select(options.device);
    std::printf("device:  %s\n", device.name().c_str());
    std::printf("input:   %s, %zu edges\n", options.input.c_str(), edges.size());
    std::fflush(stdout);

    const Run run = find(device, options, graph, start, options.most_weight);
    print_rounds(run);
    std::size_t reached = 0, farthest = start;
    for (std::size_t i = 0; i < run.distances.size(); i++)
        if (run.distances[i] != far) {
            reached++;
            farthest = run.distances[i] > run.distances[farthest] ? i : farthest;
        }
    std::printf("reached: %zu nodes from node %" PRIu32 ", node %" PRIu32
                " the farthest, at distance %" PRIu32 "\n",
                reached, from, graph.keys()[farthest], run.distances[farthest]);
    std::printf("heap:    %s, %" PRIu64 " of %" PRIu64 " bytes used\n", options.heap.name,
                run.heap.used, run.heap.bytes);
    std::fflush(stdout);

    const Clock::time_point begin = Clock::now();
    const std::vector<std::uint32_t> expected = dijkstra(graph, start, options.most_weight);
    const double milliseconds =
        std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
    samples::Differences verdict = compare(expected, run.distances, graph.keys());
    if (!run.heap_faults.empty())
        verdict.differ("the heap reports errors:\n" + run.heap_faults);
    verdict.report("shortest_paths");
    std::printf("host:    %.3f ms by Dijkstra's algorithm\n", milliseconds);
    std::printf("shortest_paths: nodes=%zu edges=%zu reached=%zu verified=%s\n", graph.nodes(),
                graph.edges(), reached, verdict.verified() ? "yes" : "no");
    return verdict.verified();
}

} // namespace
} // namespace paths

int main(int argc, char **argv)
{
    paths::Options options;
    if (const auto ended = paths::parse_options(argc, argv, options))
        return *ended;
    return samples::run_main("shortest_paths", [&options] { return paths::run(options); });
}
