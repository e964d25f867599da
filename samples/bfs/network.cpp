// Graphs from files, scale-free graphs and grids; and their levels on the host.
#include "network.hpp"

#include <algorithm>
#include <charconv>
#include <numeric>
#include <utility>

#include "common/mix32.hpp"
#include "edges.hpp"
#include "reference.hpp"

namespace bfs {
namespace {

// Returns the number of the node at which the search begins: the node with the given id, else the
// first of the nodes with most edges.
std::uint32_t start_of(const Search &search, const Network &network,
                       const std::vector<std::uint32_t> &ids)
{
    std::uint32_t most = 0;
    for (std::uint32_t node = 0; node < network.nodes(); node++)
        if (network.firsts[node + 1] - network.firsts[node] >
            network.firsts[most + 1] - network.firsts[most])
            most = node;
    if (search.from.empty())
        return most;
    std::uint32_t id = 0;
    const char *end = search.from.data() + search.from.size();
    const auto [rest, code] = std::from_chars(search.from.data(), end, id);
    const auto found = std::lower_bound(ids.begin(), ids.end(), id);
    if (code != std::errc() || rest != end || found == ids.end() || *found != id)
        throw kma::Error(
            "--from " + search.from +
            ": the graph has no such node; give the id of one, or leave it to the program");
    return static_cast<std::uint32_t>(found - ids.begin());
}

Network with_start(const Search &search, Network network, const std::vector<std::uint32_t> &ids)
{
    network.from = start_of(search, network, ids);
    network.from_id = ids[network.from];
    return network;
}

Network from_file(const Search &search)
{
    graph::Edges edges = graph::read_edges(search.graph, 1u << 31);
    if (search.reverse != 0)
        std::swap(edges.sources, edges.sinks);
    const graph::Reference graph(edges);
    Network network;
    network.firsts.push_back(0);
    for (std::size_t node = 0; node < graph.nodes(); node++) {
        const auto sinks = graph.sinks(node);
        network.targets.insert(network.targets.end(), sinks.begin(), sinks.end());
        network.firsts.push_back(network.edges());
    }
    while (network.columns * std::uint64_t{network.columns} < graph.nodes())
        network.columns++;
    return with_start(search, std::move(network), graph.keys());
}

// Makes a network by a counting sort by source. Nodes have numbers, which are also their ids.
Network made_of(const Search &search, std::uint32_t nodes, std::uint32_t columns,
                const graph::Edges &edges)
{
    Network network;
    network.columns = columns;
    network.firsts.assign(std::size_t{nodes} + 1, 0);
    for (const std::uint32_t source : edges.sources)
        network.firsts[source + 1]++;
    std::partial_sum(network.firsts.begin(), network.firsts.end(), network.firsts.begin());
    std::vector<std::uint32_t> next(network.firsts.begin(), network.firsts.end() - 1), ids(nodes);
    network.targets.resize(edges.size());
    for (std::size_t i = 0; i < edges.size(); i++)
        network.targets[next[edges.sources[i]]++] = edges.sinks[i];
    std::iota(ids.begin(), ids.end(), 0u);
    return with_start(search, std::move(network), ids);
}

std::uint32_t width_of(std::uint32_t scale)
{
    return 1u << (scale + 1) / 2;
}

// R-MAT (Chakrabarti, Zhan and Faloutsos, 2004) with Graph500's parameters: one draw per pair of
// bits of an edge's two ends: 00 with 0.57, 01 and 10 with 0.19 each, 11 with 0.05.
Network scale_free(const Search &search)
{
    graph::Edges edges;
    for (std::uint32_t i = 0; i < search.edge_factor << search.scale; i++) {
        const std::uint32_t edge = samples::mix32(samples::mix32(search.seed) ^ i);
        std::uint32_t source = 0, sink = 0;
        for (std::uint32_t bit = 0; bit < search.scale; bit++) {
            const std::uint32_t draw = samples::mix32(edge + bit) % 100;
            source = 2 * source + (draw >= 76 ? 1 : 0);
            sink = 2 * sink + ((draw >= 57 && draw < 76) || draw >= 95 ? 1 : 0);
        }
        edges.sources.push_back(source);
        edges.sinks.push_back(sink);
    }
    return made_of(search, 1u << search.scale, width_of(search.scale), edges);
}

// Joins neighbouring cells by edges both ways, or not at all, at random.
Network grid(const Search &search)
{
    const std::uint32_t nodes = 1u << search.scale, width = width_of(search.scale);
    graph::Edges edges;
    const auto join = [&](std::uint32_t cell, std::uint32_t other, std::uint32_t purpose) {
        if (samples::mix32(samples::mix32(search.seed + purpose) ^ cell) % 256 >= search.edge_share)
            return;
        edges.sources.insert(edges.sources.end(), {cell, other});
        edges.sinks.insert(edges.sinks.end(), {other, cell});
    };
    for (std::uint32_t cell = 0; cell < nodes; cell++) {
        if ((cell + 1) % width != 0)
            join(cell, cell + 1, 0);
        if (cell + width < nodes)
            join(cell, cell + width, 1);
    }
    return made_of(search, nodes, width, edges);
}

} // namespace

std::string defines(const Search &search)
{
    return "-DPART=" + std::to_string(search.part) + "u";
}

std::uint64_t Network::parts(std::uint32_t part) const
{
    std::uint64_t sum = 0;
    for (std::uint32_t node = 0; node < nodes(); node++)
        sum += (firsts[node + 1] - firsts[node] + part - 1) / part;
    return sum;
}

Network network_of(const Search &search)
{
    if (search.graph == "scale-free")
        return scale_free(search);
    return search.graph == "grid" ? grid(search) : from_file(search);
}

Levels reference(const Network &network, std::uint32_t steps)
{
    Levels levels(network.nodes(), unreached);
    levels[network.from] = 0;
    std::vector<std::uint32_t> queue{network.from};
    for (std::size_t i = 0; i < queue.size() && levels[queue[i]] < steps; i++)
        for (std::uint32_t edge = network.firsts[queue[i]]; edge < network.firsts[queue[i] + 1];
             edge++)
            if (const std::uint32_t node = network.targets[edge]; levels[node] == unreached) {
                levels[node] = levels[queue[i]] + 1;
                queue.push_back(node);
            }
    return levels;
}

samples::Numbers numbers_of(const Network &network, const Levels &levels)
{
    std::uint64_t reached = 0, farthest = 0;
    for (const std::uint32_t level : levels)
        if (level != unreached) {
            reached++;
            farthest = std::max<std::uint64_t>(farthest, level);
        }
    return {{"nodes", network.nodes()},
            {"edges", network.edges()},
            {"reached", reached},
            {"farthest", farthest}};
}

} // namespace bfs
