// Directed graphs, their sources, and the levels of their nodes.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "simulation/simulation.hpp"

namespace bfs {

/// The command line's options.
struct Search {
    std::string graph = GRAPH_DEFAULT_INPUT; ///< "scale-free", "grid", or a file
    std::uint32_t reverse = 1;               ///< reverse all edges of a file
    std::string from;                        ///< a node's id, or empty
    std::uint32_t part = 32;                 ///< edges that one work-item follows
    std::uint32_t scale = 12;                ///< this and the next ones: for generated graphs
    std::uint32_t edge_factor = 16, edge_share = 176, seed = 42;
};

/// Returns the build options that define them for the device's program.
std::string defines(const Search &search);

/// Nodes have numbers; the edges of node i lead to targets[firsts[i]] … targets[firsts[i + 1] - 1].
struct Network {
    std::vector<std::uint32_t> firsts, targets;
    std::uint32_t from = 0;    ///< node at which the search begins
    std::uint32_t from_id = 0; ///< its id
    std::uint32_t columns = 0; ///< width of the picture
    std::uint32_t nodes() const { return static_cast<std::uint32_t>(firsts.size() - 1); }
    std::uint32_t edges() const { return static_cast<std::uint32_t>(targets.size()); }
    /// Returns the number of parts, of at most `part` edges, of all nodes' edges.
    std::uint64_t parts(std::uint32_t part) const;
};

/// Reads or generates the graph. Throws kma::Error if the file has no edge list, or no node `from`.
Network network_of(const Search &search);

inline constexpr std::uint32_t unreached = 0xffffffffu;
using Levels = std::vector<std::uint32_t>; ///< of all nodes, by number

/// Returns the levels after `steps` steps on the host.
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
