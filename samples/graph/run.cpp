// Builds, uses and verifies one graph; the sweep uses the same steps.
#include "run.hpp"

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <string>
#include <vector>

namespace graph {
namespace {

using samples::errors_of;
using samples::largest_heap;
using samples::launch_shape;
using samples::usual_heap_bytes;

std::uint64_t sufficient(const Job &job, const GraphOptions &layout, bool keep_node)
{
    const std::uint32_t work_items = launch_shape(job.work_items, job.work_group).work_items;
    return sufficient_heap_bytes(layout, job.edges.size(), job.reference.nodes(), work_items,
                                 keep_node);
}

// The initial payload of a heap with --grow.
constexpr std::uint64_t small_payload = 1 << 20;

// Lets the heap grow, with --grow, up to twice the size that suffices if every lost node is wasted.
GraphOptions growing(const Job &job, GraphOptions layout, std::uint64_t enough)
{
    if (job.options.grow)
        layout.max_bytes = std::max(std::min(2 * enough, largest_heap(job.device)),
                                    job.options.heap_bytes.value_or(0));
    return layout;
}

std::uint64_t first_heap_bytes(const Job &job, const GraphOptions &layout, std::uint64_t enough)
{
    if (layout.max_bytes == 0)
        return usual_heap_bytes(job.device, enough);
    return std::min(kma::Heap::bytes_for(heap_options(layout), small_payload), layout.max_bytes);
}

// Returns the end of an error message: how to enlarge a heap that is too small.
std::string remedy(const Job &job, const GraphOptions &layout, bool keep_node)
{
    const std::uint64_t enough = sufficient(job, layout, keep_node);
    const bool too_much = enough > largest_heap(job.device);
    return samples::remedy(job.device, enough) +
           (too_much && !keep_node ? "; with --keep-node fewer do" : "");
}

} // namespace

DeviceGraph make_graph(const Job &job, const GraphOptions &layout, bool keep_node)
{
    const std::uint64_t enough = sufficient(job, layout, keep_node);
    const GraphOptions chosen = growing(job, layout, enough);
    const std::uint64_t bytes =
        job.options.heap_bytes.value_or(first_heap_bytes(job, chosen, enough));
    try {
        return {job.device, job.edges, bytes, chosen};
    } catch (const kma::BuildError &) {
        throw;
    } catch (const kma::Error &error) {
        if (bytes >= enough)
            throw;
        throw kma::Error(std::string(error.what()) + "; for these edges " +
                         remedy(job, layout, keep_node));
    }
}

double timed_builds(const Job &job, DeviceGraph &graph, LaunchShape shape, bool keep_node,
                    std::uint32_t repeat)
{
    std::vector<double> times;
    for (std::uint32_t i = 0; i < repeat; i++) {
        const DeviceGraph::Build build = graph.build(shape, keep_node);
        if (build.edges_done != job.edges.size())
            throw kma::Error("the heap of " + std::to_string(graph.heap().stats().bytes) +
                             " bytes is too small: " + std::to_string(build.edges_done) + " of " +
                             std::to_string(job.edges.size()) + " edges fitted; " +
                             remedy(job, graph.options(), keep_node) + "\n" +
                             errors_of(graph.heap()));
        if (build.growths != 0)
            std::printf("grown:   %u times, to %" PRIu64 " bytes; %" PRIu64
                        " requests were made again\n",
                        build.growths, graph.heap().bytes(), build.refused);
        times.push_back(build.milliseconds);
    }
    std::sort(times.begin(), times.end());
    return times[times.size() / 2];
}

Use use_and_verify(const Job &job, DeviceGraph &graph)
{
    const std::vector<std::uint32_t> &keys = job.reference.keys();
    Use use{graph.degrees(keys, job.work_group), graph.levels(job.from, keys, job.work_group), {}};
    use.verdict = verify(graph.heap().snapshot(), graph.root(), job.reference, job.from,
                         {use.degrees.out, use.degrees.in, use.levels.levels});
    use.verdict.report("graph");
    if (const std::string errors = errors_of(graph.heap()); !errors.empty()) {
        use.verdict.difference_count++;
        std::fprintf(stderr, "graph: the heap reports errors:\n%s\n", errors.c_str());
    }
    return use;
}

Outcome run_once(const Job &job)
{
    const bool keep_node = job.options.keep_node;
    DeviceGraph graph = make_graph(job, job.options.layout, keep_node);
    const LaunchShape shape = launch_shape(job.work_items, job.work_group);
    const std::uint32_t repeat = job.options.repeat.value_or(1);
    const double milliseconds = timed_builds(job, graph, shape, keep_node, repeat);
    std::printf("build:   %.3f ms (%" PRIu32 " work-items in groups of %" PRIu32 ", lost nodes %s",
                milliseconds, shape.work_items, shape.work_group, keep_node ? "kept" : "freed");
    std::printf(repeat > 1 ? ", median of %" PRIu32 ")\n" : ")\n", repeat);

    const Use use = use_and_verify(job, graph);
    const std::vector<std::uint32_t> &in = use.degrees.in;
    const auto hub = std::max_element(in.begin(), in.end());
    std::printf("degrees: %.3f ms; most links enter node %" PRIu32 ": %" PRIu32 "\n",
                use.degrees.milliseconds,
                job.reference.keys()[static_cast<std::size_t>(hub - in.begin())], *hub);
    std::printf("levels:  %.3f ms; from node %" PRIu32 " %zu nodes reached in %" PRIu32 " levels\n",
                use.levels.milliseconds, job.from, use.levels.reached, use.levels.level_count);
    std::printf("tree:    depth %zu\n", use.verdict.depth);
    const kma::HeapStats stats = graph.heap().stats();
    std::printf("heap:    %s, %" PRIu64 " of %" PRIu64 " bytes used\n",
                job.options.layout.heap.name, stats.used, stats.bytes);
    return {use.verdict.nodes, use.verdict.edges, use.verdict.verified()};
}

} // namespace graph
