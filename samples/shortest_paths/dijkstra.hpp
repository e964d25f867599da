// The expected distances, by Dijkstra's algorithm on the host's own graph, and their comparison
// with the device's.
#pragma once

#include <cstdint>
#include <vector>

#include "common/differences.hpp"
#include "reference.hpp"

namespace paths {

/// The distance of an unreachable node; same as PATHS_FAR of shortest_paths.cl.
inline constexpr std::uint32_t far = 0xffffffffu;

/// Returns the weight of the edge between two nodes, given by their ids: 1 to `most`. Same as
/// paths_weight of shortest_paths.cl.
std::uint32_t weight(std::uint32_t source, std::uint32_t sink, std::uint32_t most) noexcept;

/// Returns the distances from node `from` to all nodes, in the order of their indices (Dijkstra,
/// 1959, with a binary heap).
std::vector<std::uint32_t> dijkstra(const graph::Reference &graph, std::size_t from,
                                    std::uint32_t most_weight);

/// Returns the differences between `found` and `expected`; `ids` names the nodes.
samples::Differences compare(const std::vector<std::uint32_t> &expected,
                             const std::vector<std::uint32_t> &found,
                             const std::vector<std::uint32_t> &ids);

} // namespace paths
