// The graph on the device: its heap, its edges and the kernels of graph.cl, each launched and
// timed.
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

/// Where a graph lives.
struct GraphOptions {
    HeapChoice heap = samples::heap_choices[0];
    kma::Storage storage = kma::Storage::buffer;
    int debug = 0;
    std::uint64_t max_bytes = 0; ///< the most that the heap may grow to; 0: it does not
};

/// Of a heap for such a graph.
kma::HeapOptions heap_options(const GraphOptions &options);

/// A heap of so many bytes suffices for `edges` with `nodes` distinct ids, however the work-items
/// race.
std::uint64_t sufficient_heap_bytes(const GraphOptions &options, std::uint64_t edges,
                                    std::uint64_t nodes, std::uint32_t work_items, bool keep_node);

class DeviceGraph {
public:
    /// Builds the program, allocates the heap and copies `edges` to the device. Throws kma::Error
    /// as these do.
    DeviceGraph(const kma::Device &device, const Edges &edges, std::uint64_t heap_bytes,
                const GraphOptions &options);

    struct Build {
        std::uint32_t edges_done; ///< fewer than given: the heap was full, and could not grow
        double milliseconds;
        unsigned growths;      ///< of the heap, each followed by another launch
        std::uint64_t refused; ///< requests before the heap was large enough
    };
    /// Makes the graph anew in an empty heap, which grows if it may and must. `keep_node`: a
    /// work-item keeps a node that lost the race for its next one, rather than free it.
    Build build(LaunchShape shape, bool keep_node);

    struct Degrees {
        std::vector<std::uint32_t> out, in; ///< in the order of `keys`
        double milliseconds;
    };
    Degrees degrees(const std::vector<std::uint32_t> &keys, std::uint32_t work_group);

    struct Levels {
        std::vector<std::uint32_t> levels; ///< in the order of `keys`
        std::uint32_t level_count;         ///< how many different ones
        std::size_t reached;               ///< nodes that have one
        double milliseconds;
    };
    /// Breadth-first levels from the node `from`; once per build. `keys` are those of all nodes.
    Levels levels(std::uint32_t from, const std::vector<std::uint32_t> &keys,
                  std::uint32_t work_group);

    const kma::Heap &heap() const noexcept { return heap_; }
    const GraphOptions &options() const noexcept { return options_; }

    /// Where the tree begins.
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
    kma::Program program_;
    kma::Heap heap_;
    std::uint32_t edges_;
    cl::Buffer sources_, sinks_, state_;
};

} // namespace graph
