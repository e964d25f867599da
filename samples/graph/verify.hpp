// Walks the graph in a copy of the heap, ref by ref, and compares all of it with the host's own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "common/differences.hpp"
#include "common/mix32.hpp"
#include "kma/snapshot.hpp"
#include "reference.hpp"

namespace graph {

// The objects in the heap: graph_link and graph_node of tree.cl, field by field.
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

/// What orders the tree.
using samples::mix32;

/// What the kernels that use the tree found out, in the order of Reference::keys().
struct KernelResults {
    std::vector<std::uint32_t> out_degrees;
    std::vector<std::uint32_t> in_degrees;
    std::vector<std::uint32_t> levels;
};

struct Verdict : samples::Differences {
    std::size_t nodes = 0; ///< in the tree
    std::size_t edges = 0; ///< links in all lists
    std::size_t depth = 0; ///< nodes on the tree's longest path from the root
};

/// Compares the tree at `root`, with its lists and the levels from the node `from`, and the
/// kernels' results, with `reference`. Ends whatever the snapshot holds: damage is a difference,
/// never followed out of bounds or in circles.
Verdict verify(const kma::Snapshot &snapshot, kma::Ref root, const Reference &reference,
               std::uint32_t from, const KernelResults &results);

} // namespace graph
