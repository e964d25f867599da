// Shortest paths on the device: the heap, the work queue and the kernels of shortest_paths.cl.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/device_options.hpp"
#include "reference.hpp"

namespace paths {

struct Run {
    std::vector<std::uint32_t> distances; ///< in the order of the graph's nodes
    std::vector<std::uint32_t> items;     ///< number of items of each round
    /// of the kernels alone, by the device's own clock: creating the graph,
    double build_milliseconds;
    double milliseconds;                  ///< and all rounds
    kma::HeapStats heap;
    std::string heap_faults; ///< the heap's error log, without out-of-memory errors
};

/// Creates the graph in a heap, and finds the distances from node `from`. Throws kma::Error if the
/// heap runs out of memory.
Run find(const kma::Device &device, const samples::DeviceOptions &options,
         const graph::Reference &graph, std::size_t from, std::uint32_t most_weight);

} // namespace paths
