// The host's own graph.
#include <algorithm>
#include <vector>

#include "catch.hpp"
#include "reference.hpp"

using Ids = std::vector<std::uint32_t>;

TEST_CASE("reference: nodes, adjacency and degrees")
{
    const graph::Reference reference({{20, 10, 20, 20, 30}, {10, 20, 20, 10, 4294967295u}});
    CHECK(reference.keys() == Ids{10, 20, 30, 4294967295u});
    CHECK(reference.nodes() == 4);
    CHECK(reference.edges() == 5);
    CHECK(reference.index_of(30) == 2);
    CHECK(reference.index_of(31) == reference.nodes());
    const std::vector<Ids> sinks = {{20}, {10, 10, 20}, {4294967295u}, {}};
    for (std::size_t i = 0; i < sinks.size(); i++) {
        Ids keys;
        for (const std::uint32_t sink : reference.sinks(i))
            keys.push_back(reference.keys()[sink]);
        CHECK(keys == sinks[i]);
        CHECK(reference.in_degree(i) == Ids{2, 2, 0, 1}[i]);
    }
}

TEST_CASE("reference: breadth-first levels")
{
    // 1 -> 2 -> 3 -> 4 with a way back, a shortcut 1 -> 3, and 9 -> 1 against the direction.
    const graph::Reference reference({{1, 2, 3, 1, 4, 9}, {2, 3, 4, 3, 1, 1}});
    constexpr std::uint32_t no = graph::unreached;
    CHECK(reference.levels(1) == Ids{0, 1, 1, 2, no});
    CHECK(reference.levels(4) == Ids{1, 2, 2, 0, no});
    CHECK(reference.levels(9) == Ids{1, 2, 2, 3, 0});
    CHECK(reference.levels(5) == Ids{no, no, no, no, no});
}
