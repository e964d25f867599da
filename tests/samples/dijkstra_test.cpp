// The host's shortest paths, and their verifier: it accepts what is right, and finds a wrong
// distance.
#include <vector>

#include "catch.hpp"
#include "dijkstra.hpp"

namespace {

using Distances = std::vector<std::uint32_t>;

// Tries all edges, as long as any way is shorter than what is known.
Distances slowly(const graph::Edges &edges, const graph::Reference &graph, std::size_t from,
                 std::uint32_t most_weight)
{
    Distances distances(graph.nodes(), paths::far);
    distances[from] = 0;
    for (bool is_shorter = true; is_shorter;) {
        is_shorter = false;
        for (std::size_t i = 0; i < edges.size(); i++) {
            const std::uint32_t before = distances[graph.index_of(edges.sources[i])];
            std::uint32_t &behind = distances[graph.index_of(edges.sinks[i])];
            const std::uint32_t weight =
                paths::weight(edges.sources[i], edges.sinks[i], most_weight);
            if (before == paths::far || before + weight >= behind)
                continue;
            behind = before + weight;
            is_shorter = true;
        }
    }
    return distances;
}

} // namespace

TEST_CASE("shortest paths: weights are 1 to the most, and of a direction")
{
    bool is_least = false, is_most = false, is_directed = false;
    for (std::uint32_t id = 0; id < 1000; id++) {
        const std::uint32_t weight = paths::weight(id, id + 7, 10);
        REQUIRE((weight >= 1 && weight <= 10));
        is_least |= weight == 1;
        is_most |= weight == 10;
        is_directed |= weight != paths::weight(id + 7, id, 10);
    }
    CHECK((is_least && is_most && is_directed));
    CHECK(paths::weight(3, 4, 1) == 1);
}

TEST_CASE("shortest paths: as found by trying all ways; with all weights 1, levels")
{
    graph::Edges edges;
    for (std::uint32_t i = 0; i < 2000; i++) { // 500 nodes, some of which no way leads to
        edges.sources.push_back(i * 7919 % 500);
        edges.sinks.push_back(i * i * 31 % 400);
    }
    const graph::Reference graph(edges);
    const std::size_t from = graph.index_of(edges.sources[0]);
    for (const std::uint32_t most : {1u, 2u, 100u})
        CHECK(paths::dijkstra(graph, from, most) == slowly(edges, graph, from, most));
    CHECK(paths::dijkstra(graph, from, 1) == graph.levels(edges.sources[0]));
}

TEST_CASE("shortest paths: each difference is found")
{
    const std::vector<std::uint32_t> ids = {10, 20, 30};
    const Distances right = {0, 5, paths::far};
    CHECK(paths::compare(right, right, ids).verified());
    const std::vector<std::pair<Distances, std::string>> cases = {
        {{0, 6, paths::far}, "node 20: the distance is 6, should be 5"},
        {{0, paths::far, paths::far}, "node 20: the distance is none, should be 5"},
        {{0, 5, 9}, "node 30: the distance is 9, should be none"},
        {{0, 5}, "2 nodes have distances, should be 3"}};
    for (const auto &[found, difference] : cases)
        CHECK(paths::compare(right, found, ids).differences.at(0) == difference);
}
