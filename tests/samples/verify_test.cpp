// The verifier: it accepts a graph that is right, and finds each way in which one can be wrong.
#include <cstddef>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "catch.hpp"
#include "verify.hpp"

namespace {

using graph::Link;
using graph::Node;
using kma::Ref;

const graph::Edges edges = {{5, 1, 2, 3, 1, 1, 4, 5}, {1, 2, 3, 1, 2, 4, 4, 9}};
constexpr std::uint32_t from = 5;

// A heap with the graph of `edges`, made by the host as the kernels would.
class Graph {
public:
    Graph()
    {
        for (std::size_t i = 0; i < edges.size(); i++) {
            const Ref source = ensure(edges.sources[i]);
            const Ref sink = ensure(edges.sinks[i]);
            const Ref link = allocate(sizeof(Link));
            at<Link>(link) = {at<Node>(source).links, sink};
            at<Node>(source).links = link;
            at<Node>(sink).in_links++;
        }
        results.levels = reference.levels(from);
        for (std::size_t i = 0; i < reference.nodes(); i++) {
            results.out_degrees.push_back(static_cast<std::uint32_t>(reference.sinks(i).size()));
            results.in_degrees.push_back(reference.in_degree(i));
            node(reference.keys()[i]).level = results.levels[i];
        }
    }

    // The object at `ref`; void after the next allocation.
    template <class T> T &at(Ref ref) { return *reinterpret_cast<T *>(bytes.data() + ref * kma::ref_unit); }

    // The child ref, or root, that leads or would lead to `key`.
    Ref &place(std::uint32_t key)
    {
        Ref *ref = &root;
        while (*ref != 0 && at<Node>(*ref).key != key)
            ref = graph::mix32(key) < graph::mix32(at<Node>(*ref).key) ? &at<Node>(*ref).left : &at<Node>(*ref).right;
        return *ref;
    }

    Node &node(std::uint32_t key) { return at<Node>(place(key)); }

    // A node that has no child on one side at least.
    Ref leaf()
    {
        Ref ref = root;
        while (at<Node>(ref).left != 0 || at<Node>(ref).right != 0)
            ref = at<Node>(ref).left ? at<Node>(ref).left : at<Node>(ref).right;
        return ref;
    }

    Ref ensure(std::uint32_t key)
    {
        if (place(key) == 0) {
            const Ref ref = allocate(sizeof(Node));
            at<Node>(ref) = {key, 0, 0, 0, graph::unreached, 0};
            place(key) = ref;
        }
        return place(key);
    }

    Ref allocate(std::size_t size)
    {
        const std::size_t start = bytes.size();
        bytes.resize(start + (size + kma::ref_unit - 1) / kma::ref_unit * kma::ref_unit);
        return static_cast<Ref>(start / kma::ref_unit);
    }

    graph::Verdict verify() const { return graph::verify(kma::Snapshot({{0, bytes}}), root, reference, from, results); }

    const graph::Reference reference{edges};
    std::vector<std::byte> bytes = std::vector<std::byte>(1024); // in front of the first block: metadata
    Ref root = 0;
    graph::KernelResults results;
};

// Whether the graph fails verification after `damage`, with a difference that contains `words`.
bool finds(const std::string &words, const std::function<void(Graph &)> &damage)
{
    Graph graph;
    damage(graph);
    const graph::Verdict verdict = graph.verify();
    CHECK_FALSE(verdict.verified());
    CHECK(verdict.differences.size() <= 10);
    for (const std::string &difference : verdict.differences) {
        if (difference.find(words) != std::string::npos)
            return true;
        UNSCOPED_INFO(difference);
    }
    return false;
}

} // namespace

TEST_CASE("verify: a graph that is right")
{
    const graph::Verdict verdict = Graph().verify();
    CHECK(verdict.verified());
    CHECK(verdict.differences.empty());
    CHECK(verdict.nodes == 6);
    CHECK(verdict.edges == 8);
    CHECK(verdict.depth >= 3);
    CHECK(verdict.depth <= 6);
}

TEST_CASE("verify: damage to the tree")
{
    CHECK(finds("leads outside the memory", [](Graph &g) { g.at<Node>(g.leaf()).left = 0x10000; }));
    CHECK(finds("leads outside the memory", [](Graph &g) { g.at<Node>(g.leaf()).right = 0xffffffff; }));
    CHECK(finds("the root: ref", [](Graph &g) { g.root = 0xfffffff0; }));
    CHECK(finds("is not in the tree", [](Graph &g) { g.root = 0; }));
    CHECK(finds("something else refers to", [](Graph &g) { g.at<Node>(g.leaf()).left = g.root; }));
    CHECK(finds("something else refers to", [](Graph &g) { g.at<Node>(g.leaf()).right = g.leaf(); }));
    CHECK(finds("is not in the tree", [](Graph &g) { g.place(9) = 0; }));
    CHECK(finds("node 77 is in the tree, but in no edge", [](Graph &g) { g.ensure(77); }));
    CHECK(finds("wrong place", [](Graph &g) { std::swap(g.node(1).key, g.node(5).key); }));
    CHECK(finds("wrong place", [](Graph &g) { std::swap(g.at<Node>(g.root).left, g.at<Node>(g.root).right); }));
    CHECK(finds("is in the tree twice", [](Graph &g) { g.at<Node>(g.leaf()).key = g.at<Node>(g.root).key; }));
    CHECK(finds("leads outside the memory", [](Graph &g) { g.bytes.resize(g.bytes.size() - 16); }));
    CHECK(finds("the root: ref", [](Graph &g) { g.bytes.clear(); }));
}

TEST_CASE("verify: damage to the lists")
{
    const auto first = [](Graph &g, std::uint32_t key) -> Link & { return g.at<Link>(g.node(key).links); };

    CHECK(finds("node 1: the number of links", [&](Graph &g) { g.node(1).links = first(g, 1).next; }));
    CHECK(finds("the lists hold 7 links", [&](Graph &g) { g.node(1).links = first(g, 1).next; }));
    CHECK(finds("the list of node 1: ref", [&](Graph &g) { first(g, 1).next = g.node(1).links; }));
    CHECK(finds("the list of node", [&](Graph &g) { first(g, 2).next = g.node(1).links; }));
    CHECK(finds("leads outside the memory", [&](Graph &g) { first(g, 2).next = 0x7fffffff; }));
    CHECK(finds("something else refers to", [&](Graph &g) { first(g, 2).next = g.root; }));
    CHECK(finds("where no node of the tree is", [&](Graph &g) { first(g, 2).sink = 0; }));
    CHECK(finds("where no node of the tree is", [&](Graph &g) { first(g, 2).sink = g.node(1).links; }));
    CHECK(finds("where no node of the tree is", [&](Graph &g) { first(g, 2).sink = 0xffffffff; }));
    CHECK(finds("node 2: its links lead to other nodes", [&](Graph &g) { first(g, 2).sink = g.root; }));
    CHECK(finds("node 1: the number of links", [](Graph &g) {
        const Ref link = g.allocate(sizeof(Link));
        g.at<Link>(link) = {g.node(1).links, g.place(2)};
        g.node(1).links = link;
    }));
}

TEST_CASE("verify: wrong counts and levels")
{
    CHECK(
        finds("node 2: the count of links that enter it is 1, should be 2", [](Graph &g) { g.node(2).in_links = 1; }));
    CHECK(finds("node 3: the level is 4, should be 3", [](Graph &g) { g.node(3).level = 4; }));
    CHECK(finds("node 1: the kernel's out-degree is 2, should be 3", [](Graph &g) { g.results.out_degrees[0]--; }));
    CHECK(finds("node 9: the kernel's in-degree is 2, should be 1", [](Graph &g) { g.results.in_degrees[5]++; }));
    CHECK(finds("node 5: the kernel's level is 1, should be 0", [](Graph &g) { g.results.levels[4] = 1; }));
    CHECK(finds("not one for each node", [](Graph &g) { g.results.levels.pop_back(); }));
}

TEST_CASE("verify: reports the first differences and counts all")
{
    Graph graph;
    for (std::uint32_t &degree : graph.results.out_degrees)
        degree += 7;
    for (std::uint32_t &degree : graph.results.in_degrees)
        degree += 7;
    const graph::Verdict verdict = graph.verify();
    CHECK(verdict.difference_count == 12);
    CHECK(verdict.differences.size() == 10);
}
