// The graph as the host knows it, from the edges alone: what the device's heap must hold.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "edges.hpp"

namespace graph {

/// The level of a node that no path leads to; GRAPH_UNREACHED of tree.cl.
inline constexpr std::uint32_t unreached = 0xffffffffu;

/// Nodes have an index, their place in keys(); everything per node is in that order.
class Reference {
public:
    explicit Reference(const Edges &edges);

    /// The ids of all nodes, ascending.
    const std::vector<std::uint32_t> &keys() const noexcept { return keys_; }

    std::size_t nodes() const noexcept { return keys_.size(); }
    std::size_t edges() const noexcept { return sinks_.size(); }

    /// The index of `key`, nodes() if it is no node.
    std::size_t index_of(std::uint32_t key) const;

    /// The indices of the nodes that edges from `node` lead to, ascending; one for each of several
    /// parallel edges.
    std::span<const std::uint32_t> sinks(std::size_t node) const;

    /// How many edges lead to `node`.
    std::uint32_t in_degree(std::size_t node) const { return in_degrees_[node]; }

    /// For each node, the edges on a shortest path from the node with key `from`, or `unreached`.
    std::vector<std::uint32_t> levels(std::uint32_t from) const;

private:
    std::vector<std::uint32_t> keys_;
    // sinks_[first_[i]] … sinks_[first_[i + 1] - 1] are those of node i
    std::vector<std::size_t> first_;
    std::vector<std::uint32_t> sinks_;
    std::vector<std::uint32_t> in_degrees_;
};

} // namespace graph
