// Walks the graph in a copy of the heap, ref by ref, and compares all of it with the host's own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

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

/// What orders the tree: kma_mix32 of the device (cl/kma/platform/bits.cl).
std::uint32_t mix32(std::uint32_t x) noexcept;

/// What the kernels that use the tree found out, in the order of Reference::keys().
struct KernelResults {
    std::vector<std::uint32_t> out_degrees;
    std::vector<std::uint32_t> in_degrees;
    std::vector<std::uint32_t> levels;
};

struct Verdict {
    std::size_t nodes = 0; ///< in the tree
    std::size_t edges = 0; ///< links in all lists
    std::size_t depth = 0; ///< nodes on the tree's longest path from the root

    std::size_t difference_count = 0;
    std::vector<std::string> differences; ///< the first ten, as sentences

    bool verified() const noexcept { return difference_count == 0; }
};

/// Compares the tree at `root`, with its lists and the levels from the node `from`, and the kernels' results, with
/// `reference`. Ends whatever the snapshot holds: damage is a difference, never followed out of bounds or in circles.
Verdict verify(const kma::Snapshot &snapshot, kma::Ref root, const Reference &reference, std::uint32_t from,
               const KernelResults &results);

} // namespace graph
