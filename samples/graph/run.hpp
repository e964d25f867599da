// Builds, uses and verifies the graph: once, or many times for a table of times.
#pragma once

#include <cstddef>
#include <cstdint>

#include "device_graph.hpp"
#include "options.hpp"
#include "reference.hpp"

namespace graph {

/// The input, and the choices made for it.
struct Job {
    const Options &options;
    const kma::Device &device;
    const Edges &edges;
    const Reference &reference;
    std::uint32_t from;       ///< node at which the breadth-first search begins
    std::uint32_t work_items; ///< as requested, not yet rounded to whole work-groups
    std::uint32_t work_group;
};

/// The contents of the last line of output.
struct Outcome {
    std::size_t nodes = 0;
    std::size_t edges = 0;
    bool verified = false;
};

/// Builds the graph, uses it and verifies it; prints the results of each step.
Outcome run_once(const Job &job);

/// Prints build times for 1, 2, 4, … up to job.work_items work-items on every heap, freeing or
/// keeping lost nodes: figure 6.7 of Spliet's thesis. Checks the edge count of each graph, and
/// verifies the last graph of each column.
Outcome run_sweep(const Job &job);

// The common parts. If the heap is too small, they throw kma::Error with the size that suffices.

/// Creates a graph, not yet built, in a heap of the requested size, else of one that suffices.
DeviceGraph make_graph(const Job &job, const GraphOptions &layout, bool keep_node);

/// Builds the graph `repeat` times. Returns the median time. Throws kma::Error if an edge is
/// missing.
double timed_builds(const Job &job, DeviceGraph &graph, LaunchShape shape, bool keep_node,
                    std::uint32_t repeat);

/// Degrees, levels, and the comparison with the reference; differences go to standard error.
struct Use {
    DeviceGraph::Degrees degrees;
    DeviceGraph::Levels levels;
    Verdict verdict;
};
Use use_and_verify(const Job &job, DeviceGraph &graph);

} // namespace graph
