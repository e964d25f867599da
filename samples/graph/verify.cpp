// The verifier. It marks every 16-byte unit of the heap that an object occupies. An object on units
// that are already marked means a cycle, two references to one node, or two overlapping objects.
// Every walk ends, and no object is counted twice.
#include "verify.hpp"

#include <algorithm>
#include <string>

namespace graph {

namespace {

class Verifier {
public:
    Verifier(const kma::Snapshot &snapshot, const Reference &reference)
        : snapshot_(snapshot), reference_(reference),
          units_(snapshot.end() / kma::ref_unit + 2, Unit::free)
    {
    }

    // Visits all nodes of the tree; each must be there once and in order.
    void walk_tree(kma::Ref root);

    // Checks the list and the counts of every node that walk_tree found.
    void check_nodes(const std::vector<std::uint32_t> &levels);

    void check_results(const KernelResults &results, const std::vector<std::uint32_t> &levels);

    Verdict verdict;

private:
    enum class Unit : std::uint8_t { free, node, taken };

    void differ(const std::string &sentence) { verdict.differ(sentence); }

    void expect_equal(const char *what, std::uint32_t key, std::uint64_t is,
                      std::uint64_t should_be)
    {
        if (is != should_be)
            differ("node " + std::to_string(key) + ": " + what + " is " + std::to_string(is) +
                   ", should be " + std::to_string(should_be));
    }

    // Returns the object at `ref` and marks its units. If there cannot be one, returns nullptr and
    // notes a difference. `describe()` says where the ref was found.
    template <class T, class Describe> const T *visit(kma::Ref ref, Describe describe);
    std::vector<std::uint32_t> walk_list(const Node &node);

    const kma::Snapshot &snapshot_;
    const Reference &reference_;
    std::vector<Unit> units_;
    std::vector<const Node *> nodes_;
};

template <class T, class Describe> const T *Verifier::visit(kma::Ref ref, Describe describe)
{
    try {
        const T *object = snapshot_.deref<T>(ref);
        constexpr std::size_t size = (sizeof(T) + kma::ref_unit - 1) / kma::ref_unit;
        const auto begin = units_.begin() + static_cast<std::ptrdiff_t>(ref);
        if (std::any_of(begin, begin + size, [](Unit unit) { return unit != Unit::free; })) {
            differ(describe() + ": ref " + std::to_string(ref) +
                   " leads into an object that something else refers to");
            return nullptr;
        }
        std::fill(begin, begin + size, Unit::taken);
        return object;
    } catch (const kma::Error &error) {
        differ(describe() + ": " + error.what());
        return nullptr;
    }
}

void Verifier::walk_tree(kma::Ref root)
{
    struct Subtree {
        kma::Ref ref;
        std::uint64_t low, high; // low <= mix32(key) < high for all nodes below
        std::size_t depth;
        const Node *parent; // nullptr for the root
    };
    std::vector<bool> found(reference_.nodes());
    std::vector<Subtree> todo = {{root, 0, std::uint64_t{1} << 32, 1, nullptr}};
    while (!todo.empty()) {
        const Subtree at = todo.back();
        todo.pop_back();
        const auto describe = [&at] {
            return at.parent ? "a child of node " + std::to_string(at.parent->key)
                             : std::string("the root");
        };
        const Node *node = at.ref ? visit<Node>(at.ref, describe) : nullptr;
        if (!node)
            continue;
        units_[at.ref] = Unit::node;
        nodes_.push_back(node);
        verdict.depth = std::max(verdict.depth, at.depth);

        const std::uint64_t order = mix32(node->key);
        if (order < at.low || order >= at.high)
            differ("node " + std::to_string(node->key) + " stands in the wrong place of the tree");
        const std::size_t index = reference_.index_of(node->key);
        if (index == reference_.nodes())
            differ("node " + std::to_string(node->key) + " is in the tree, but in no edge");
        else if (found[index])
            differ("node " + std::to_string(node->key) + " is in the tree twice");
        else
            found[index] = true;
        todo.push_back({node->left, at.low, order, at.depth + 1, node});
        todo.push_back({node->right, order + 1, at.high, at.depth + 1, node});
    }
    verdict.nodes = nodes_.size();
    for (std::size_t i = 0; i < found.size(); i++)
        if (!found[i])
            differ("node " + std::to_string(reference_.keys()[i]) + " is not in the tree");
}

// Returns the keys of the nodes that the links of `node` lead to, in the list's order.
std::vector<std::uint32_t> Verifier::walk_list(const Node &node)
{
    const auto describe = [&node] { return "the list of node " + std::to_string(node.key); };
    std::vector<std::uint32_t> sinks;
    for (kma::Ref at = node.links; at != 0;) {
        const Link *link = visit<Link>(at, describe);
        if (!link)
            break;
        verdict.edges++;
        at = link->next;
        if (link->sink < units_.size() && units_[link->sink] == Unit::node)
            sinks.push_back(snapshot_.deref<Node>(link->sink)->key);
        else
            differ(describe() + ": a link leads to ref " + std::to_string(link->sink) +
                   ", where no node of the tree is");
    }
    return sinks;
}

void Verifier::check_nodes(const std::vector<std::uint32_t> &levels)
{
    for (const Node *node : nodes_) {
        std::vector<std::uint32_t> sinks = walk_list(*node);
        const std::size_t index = reference_.index_of(node->key);
        if (index == reference_.nodes())
            continue; // already noted as a difference
        const auto expected = reference_.sinks(index);
        std::sort(sinks.begin(), sinks.end());
        const auto same = [this](std::uint32_t key, std::uint32_t sink) {
            return key == reference_.keys()[sink];
        };
        expect_equal("the number of links that leave it", node->key, sinks.size(), expected.size());
        if (sinks.size() == expected.size() &&
            !std::equal(sinks.begin(), sinks.end(), expected.begin(), same))
            differ("node " + std::to_string(node->key) +
                   ": its links lead to other nodes than its edges");
        expect_equal("the count of links that enter it", node->key, node->in_links,
                     reference_.in_degree(index));
        expect_equal("the level", node->key, node->level, levels[index]);
    }
    if (verdict.edges != reference_.edges())
        differ("the lists hold " + std::to_string(verdict.edges) + " links, should be " +
               std::to_string(reference_.edges()));
}

void Verifier::check_results(const KernelResults &results, const std::vector<std::uint32_t> &levels)
{
    const std::size_t nodes = reference_.nodes();
    if (results.out_degrees.size() != nodes || results.in_degrees.size() != nodes ||
        results.levels.size() != nodes) {
        differ("the kernels' results are not one for each node");
        return;
    }
    for (std::size_t i = 0; i < nodes; i++) {
        const std::uint32_t key = reference_.keys()[i];
        expect_equal("the kernel's out-degree", key, results.out_degrees[i],
                     reference_.sinks(i).size());
        expect_equal("the kernel's in-degree", key, results.in_degrees[i], reference_.in_degree(i));
        expect_equal("the kernel's level", key, results.levels[i], levels[i]);
    }
}

} // namespace

Verdict verify(const kma::Snapshot &snapshot, kma::Ref root, const Reference &reference,
               std::uint32_t from, const KernelResults &results)
{
    const std::vector<std::uint32_t> levels = reference.levels(from);
    Verifier verifier(snapshot, reference);
    verifier.walk_tree(root);
    verifier.check_nodes(levels);
    verifier.check_results(results, levels);
    return verifier.verdict;
}

} // namespace graph
