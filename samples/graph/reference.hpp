// The graph on the host, from the edges alone: the expected contents of the device's heap.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "edges.hpp"

namespace graph {

/// The level of a node that no path leads to; same as GRAPH_UNREACHED of tree.cl.
inline constexpr std::uint32_t unreached = 0xffffffffu;

/// Each node has an index, its position in keys(); everything per node is in that order.
class Reference {
public:
    explicit Reference(const Edges &edges);

    /// Returns the ids of all nodes, ascending.
    const std::vector<std::uint32_t> &keys() const noexcept { return keys_; }

    std::size_t nodes() const noexcept { return keys_.size(); }
    std::size_t edges() const noexcept { return sinks_.size(); }

    /// Returns the index of `key`; nodes() if it is not a node.
    std::size_t index_of(std::uint32_t key) const;

    /// Returns the indices of the nodes that edges from `node` lead to, ascending, one per edge.
    std::span<const std::uint32_t> sinks(std::size_t node) const;

    /// Returns the number of edges that lead to `node`.
    std::uint32_t in_degree(std::size_t node) const { return in_degrees_[node]; }

    /// Returns for each node the number of edges of a shortest path from the node with key `from`,
    /// or `unreached`.
    std::vector<std::uint32_t> levels(std::uint32_t from) const;

private:
    std::vector<std::uint32_t> keys_;
    // sinks_[first_[i]] … sinks_[first_[i + 1] - 1] belong to node i
    std::vector<std::size_t> first_;
    std::vector<std::uint32_t> sinks_;
    std::vector<std::uint32_t> in_degrees_;
};

} // namespace graph
