// What must come out: distances by Dijkstra's algorithm, on the host's own graph; and the
// comparison with what the device found.
#pragma once

#include <cstdint>
#include <vector>

#include "common/differences.hpp"
#include "reference.hpp"

namespace paths {

/// The distance of a node that no way leads to; PATHS_FAR of shortest_paths.cl.
inline constexpr std::uint32_t far = 0xffffffffu;

/// The weight of the edge between two nodes, by their ids, 1 to `most`: paths_weight of
/// shortest_paths.cl.
std::uint32_t weight(std::uint32_t source, std::uint32_t sink, std::uint32_t most) noexcept;

/// The distances from node `from` to each, in the order of their indices (Dijkstra, 1959, with a
/// heap).
std::vector<std::uint32_t> dijkstra(const graph::Reference &graph, std::size_t from,
                                    std::uint32_t most_weight);

/// Where `found` is not what was expected; `ids` names the nodes.
samples::Differences compare(const std::vector<std::uint32_t> &expected,
                             const std::vector<std::uint32_t> &found,
                             const std::vector<std::uint32_t> &ids);

} // namespace paths
