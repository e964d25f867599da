// The verifier of shortest paths finds a wrong distance. Runs of the sample compare the host's
// distances with the device's.
#include <vector>

#include "catch.hpp"
#include "dijkstra.hpp"

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

TEST_CASE("shortest paths: with all weights 1, levels")
{
    const graph::Reference graph({{1, 2, 3, 1, 4, 9}, {2, 3, 4, 3, 1, 1}});
    CHECK(paths::dijkstra(graph, graph.index_of(1), 1) == graph.levels(1));
    CHECK(paths::dijkstra(graph, graph.index_of(4), 1) == graph.levels(4));
}

TEST_CASE("shortest paths: each difference is found")
{
    using Distances = std::vector<std::uint32_t>;
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
