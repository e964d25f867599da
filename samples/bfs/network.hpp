// Directed graphs: where they come from, and the levels of their nodes.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "simulation/simulation.hpp"

namespace bfs {

/// What the command line says.
struct Search {
    std::string graph = GRAPH_DEFAULT_INPUT; ///< "scale-free", "grid", or a file
    std::uint32_t reverse = 1;               ///< of a file all edges the other way
    std::string from;                        ///< a node's id, or empty
    std::uint32_t part = 32;                 ///< edges that are followed one after the other
    std::uint32_t scale = 12;                ///< this and what follows: of graphs that are made
    std::uint32_t edge_factor = 16, edge_share = 176, seed = 42;
};

/// As the device's program has it.
std::string defines(const Search &search);

/// Nodes have numbers; edges of node i lead to targets[firsts[i]] … targets[firsts[i + 1] - 1].
struct Network {
    std::vector<std::uint32_t> firsts, targets;
    std::uint32_t from = 0;    ///< where the search begins
    std::uint32_t from_id = 0; ///< its id
    std::uint32_t columns = 0; ///< of the picture
    std::uint32_t nodes() const { return static_cast<std::uint32_t>(firsts.size() - 1); }
    std::uint32_t edges() const { return static_cast<std::uint32_t>(targets.size()); }
    /// All nodes' edges in parts of at most `part`: how many.
    std::uint64_t parts(std::uint32_t part) const;
};

/// Reads or makes the graph. Throws kma::Error if the file is none of edges, or has no node `from`.
Network network_of(const Search &search);

inline constexpr std::uint32_t unreached = 0xffffffffu;
using Levels = std::vector<std::uint32_t>; ///< of all nodes

/// So many steps on the host.
Levels reference(const Network &network, std::uint32_t steps);
samples::Numbers numbers_of(const Network &network, const Levels &levels);

/// With objects (bfs.cl).
std::unique_ptr<samples::Game> play_objects(const kma::Device &device, const Search &search,
                                            const Network &network,
                                            const samples::Setting &setting);
/// By hand, in arrays (arrays.cl).
std::unique_ptr<samples::Game> play_arrays(const kma::Device &device, const Search &search,
                                           const Network &network, const samples::Setting &setting);

} // namespace bfs
