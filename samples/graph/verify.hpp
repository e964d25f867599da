// Walks the graph in a copy of the heap, ref by ref, and compares it with the host's own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "common/differences.hpp"
#include "common/mix32.hpp"
#include "kma/snapshot.hpp"
#include "reference.hpp"

namespace graph {

// The objects in the heap, with the fields of graph_link and graph_node of tree.cl.
struct Link {
    kma::Ref next; // to Link
    kma::Ref sink; // to Node
};
static_assert(sizeof(Link) == 8);

struct Node {
    std::uint32_t key;
    kma::Ref left;  // to Node
    kma::Ref right; // to Node
    kma::Ref links; // to Link
    std::uint32_t level;
    std::uint32_t in_links;
};
static_assert(sizeof(Node) == 24);

/// The hash that orders the tree.
using samples::mix32;

/// The results of the kernels that use the tree, in the order of Reference::keys().
struct KernelResults {
    std::vector<std::uint32_t> out_degrees;
    std::vector<std::uint32_t> in_degrees;
    std::vector<std::uint32_t> levels;
};

struct Verdict : samples::Differences {
    std::size_t nodes = 0; ///< in the tree
    std::size_t edges = 0; ///< links in all lists
    std::size_t depth = 0; ///< nodes on the longest path from the root
};

/// Compares the tree at `root`, its lists, the levels from the node `from`, and the kernels'
/// results with `reference`. Ends for any contents of the snapshot: damage is noted as a
/// difference, and is never followed out of bounds or in cycles.
Verdict verify(const kma::Snapshot &snapshot, kma::Ref root, const Reference &reference,
               std::uint32_t from, const KernelResults &results);

} // namespace graph
