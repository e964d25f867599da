// What the program does with its input: the graph built, used and verified once, or many times for
// a table of times.
#pragma once

#include <cstddef>
#include <cstdint>

#include "device_graph.hpp"
#include "options.hpp"
#include "reference.hpp"

namespace graph {

/// The input, and what was decided about it.
struct Job {
    const Options &options;
    const kma::Device &device;
    const Edges &edges;
    const Reference &reference;
    std::uint32_t from;       ///< where the breadth-first search begins
    std::uint32_t work_items; ///< as asked for, not yet rounded to whole work-groups
    std::uint32_t work_group;
};

/// What the last line tells.
struct Outcome {
    std::size_t nodes = 0;
    std::size_t edges = 0;
    bool verified = false;
};

/// Builds the graph, uses it and verifies it; prints what there is to know about each step.
Outcome run_once(const Job &job);

/// Prints the time of the build for 1, 2, 4, … up to job.work_items work-items on every heap,
/// freeing and keeping nodes that lost a race: figure 6.7 of the thesis. Each graph is counted, the
/// last of each column verified.
Outcome run_sweep(const Job &job);

// What both are made of. Too small a heap is a kma::Error with the bytes that would do.

/// The graph on the device, not built yet, in a heap of the size asked for or else one that
/// suffices.
DeviceGraph make_graph(const Job &job, const GraphOptions &layout, bool keep_node);

/// Builds it `repeat` times; the median time. Throws kma::Error if an edge is missing.
double timed_builds(const Job &job, DeviceGraph &graph, LaunchShape shape, bool keep_node,
                    std::uint32_t repeat);

/// Degrees, levels, and the comparison of everything; differences go to standard error.
struct Use {
    DeviceGraph::Degrees degrees;
    DeviceGraph::Levels levels;
    Verdict verdict;
};
Use use_and_verify(const Job &job, DeviceGraph &graph);

} // namespace graph
