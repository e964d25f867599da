// Dijkstra's algorithm.
#include "dijkstra.hpp"

#include <functional>
#include <queue>
#include <string>
#include <utility>

#include "common/mix32.hpp"

namespace paths {

std::uint32_t weight(std::uint32_t source, std::uint32_t sink, std::uint32_t most) noexcept
{
    return 1 + samples::mix32(samples::mix32(source) ^ sink) % most;
}

std::vector<std::uint32_t> dijkstra(const graph::Reference &graph, std::size_t from,
                                    std::uint32_t most_weight)
{
    using Reached = std::pair<std::uint32_t, std::size_t>; // distance, node
    std::priority_queue<Reached, std::vector<Reached>, std::greater<>> nearest;
    std::vector<std::uint32_t> distances(graph.nodes(), far);
    distances[from] = 0;
    nearest.push({0, from});
    while (!nearest.empty()) {
        const auto [distance, node] = nearest.top();
        nearest.pop();
        if (distance != distances[node])
            continue; // already reached by a shorter path
        for (const std::uint32_t sink : graph.sinks(node)) {
            const std::uint32_t through =
                distance + weight(graph.keys()[node], graph.keys()[sink], most_weight);
            if (through < distances[sink]) {
                distances[sink] = through;
                nearest.push({through, sink});
            }
        }
    }
    return distances;
}

samples::Differences compare(const std::vector<std::uint32_t> &expected,
                             const std::vector<std::uint32_t> &found,
                             const std::vector<std::uint32_t> &ids)
{
    const auto text = [](std::uint32_t distance) {
        return distance == far ? "none" : std::to_string(distance);
    };
    samples::Differences all;
    if (found.size() != expected.size())
        all.differ(std::to_string(found.size()) + " nodes have distances, should be " +
                   std::to_string(expected.size()));
    for (std::size_t i = 0; i < found.size() && i < expected.size(); i++)
        if (found[i] != expected[i])
            all.differ("node " + std::to_string(ids[i]) + ": the distance is " + text(found[i]) +
                       ", should be " + text(expected[i]));
    return all;
}

} // namespace paths
