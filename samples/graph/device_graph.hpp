// The graph on the device: its heap, its edges, and the kernels of graph.cl.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "common/heaps.hpp"
#include "common/launch.hpp"
#include "edges.hpp"
#include "kma/kma.hpp"
#include "verify.hpp"

namespace graph {

using samples::HeapChoice;
using samples::LaunchShape;

/// The options of a graph's heap.
struct GraphOptions {
    HeapChoice heap = samples::heap_choices[0];
    kma::Storage storage = kma::Storage::buffer;
    int debug = 0;
    std::uint64_t max_bytes = 0; ///< limit of the heap's growth; 0: no growth
};

/// Returns the heap options for such a graph.
kma::HeapOptions heap_options(const GraphOptions &options);

/// Returns a heap size that suffices for `edges` with `nodes` distinct ids, for any order of the
/// work-items.
std::uint64_t sufficient_heap_bytes(const GraphOptions &options, std::uint64_t edges,
                                    std::uint64_t nodes, std::uint32_t work_items, bool keep_node);

class DeviceGraph {
public:
    /// Builds the program, allocates the heap and copies `edges` to the device. Throws kma::Error
    /// if one of these fails.
    DeviceGraph(const kma::Device &device, const Edges &edges, std::uint64_t heap_bytes,
                const GraphOptions &options);

    struct Build {
        std::uint32_t edges_done; ///< fewer than given: out of memory
        double milliseconds;
        unsigned growths;      ///< each is followed by another launch
        std::uint64_t refused; ///< failed requests before the heap was large enough
    };
    /// Builds the graph in an empty heap, which grows if necessary and allowed. `keep_node`: a
    /// work-item keeps a node that lost a race for its next insertion, instead of freeing it.
    Build build(LaunchShape shape, bool keep_node);

    struct Degrees {
        std::vector<std::uint32_t> out, in; ///< in the order of `keys`
        double milliseconds;
    };
    Degrees degrees(const std::vector<std::uint32_t> &keys, std::uint32_t work_group);

    struct Levels {
        std::vector<std::uint32_t> levels; ///< in the order of `keys`
        std::uint32_t level_count;         ///< number of different levels
        std::size_t reached;               ///< nodes with a level
        double milliseconds;
    };
    /// Computes breadth-first levels from the node `from`. At most once per build. `keys` are the
    /// ids of all nodes.
    Levels levels(std::uint32_t from, const std::vector<std::uint32_t> &keys,
                  std::uint32_t work_group);

    const kma::Heap &heap() const noexcept { return heap_; }
    const GraphOptions &options() const noexcept { return options_; }

    /// Returns the tree's root.
    kma::Ref root() const { return read_state().root; }

private:
    struct State { // graph_state of graph.cl
        kma::Ref root;
        std::uint32_t edges_done;
        std::uint32_t frontier_end;
    };
    static_assert(sizeof(State) == 12);

    State read_state() const;
    void write_state(const State &state);
    cl::Kernel kernel(const char *name) const;
    double look_up(const char *kernel, const std::vector<std::uint32_t> &keys,
                   std::uint32_t work_group,
                   const std::vector<std::vector<std::uint32_t> *> &results);

    kma::Device device_;
    GraphOptions options_;
    kma::Heap heap_;
    kma::Program program_;
    std::uint32_t edges_;
    cl::Buffer sources_, sinks_, state_;
};

} // namespace graph
