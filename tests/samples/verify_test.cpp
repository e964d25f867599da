// The verifier: it accepts a graph that is right, and finds each way in which one can be wrong.
#include <cstddef>
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
struct Graph {
    const graph::Reference reference{edges};
    std::vector<std::byte> bytes = std::vector<std::byte>(1024); // metadata before the first block
    Ref root = 0;
    graph::KernelResults results;

    Graph()
    {
        for (std::size_t i = 0; i < edges.size(); i++) {
            ensure(edges.sinks[i]);
            ensure(edges.sources[i]);
            add_link(edges.sources[i], edges.sinks[i]);
            node(edges.sinks[i]).in_links++;
        }
        results.levels = reference.levels(from);
        for (std::size_t i = 0; i < reference.nodes(); i++) {
            results.out_degrees.push_back(static_cast<std::uint32_t>(reference.sinks(i).size()));
            results.in_degrees.push_back(reference.in_degree(i));
            node(reference.keys()[i]).level = results.levels[i];
        }
    }

    // The object at `ref`; void after the next allocation.
    template <class T> T &at(Ref ref)
    {
        return *reinterpret_cast<T *>(bytes.data() + ref * kma::ref_unit);
    }
    Ref allocate(std::size_t size)
    {
        const std::size_t start = bytes.size();
        bytes.resize(start + (size + kma::ref_unit - 1) / kma::ref_unit * kma::ref_unit);
        return static_cast<Ref>(start / kma::ref_unit);
    }

    // The child ref, or root, that leads or would lead to `key`.
    Ref &place(std::uint32_t key)
    {
        Ref *ref = &root;
        while (*ref != 0 && at<Node>(*ref).key != key)
            ref = graph::mix32(key) < graph::mix32(at<Node>(*ref).key) ? &at<Node>(*ref).left
                                                                       : &at<Node>(*ref).right;
        return *ref;
    }
    Node &node(std::uint32_t key) { return at<Node>(place(key)); }
    Link &first(std::uint32_t key) { return at<Link>(node(key).links); }
    Node &top() { return at<Node>(root); }

    // A node without children.
    Ref leaf()
    {
        Ref ref = root;
        while (at<Node>(ref).left != 0 || at<Node>(ref).right != 0)
            ref = at<Node>(ref).left ? at<Node>(ref).left : at<Node>(ref).right;
        return ref;
    }
    Node &leaf_node() { return at<Node>(leaf()); }

    void ensure(std::uint32_t key)
    {
        if (place(key) != 0)
            return;
        const Ref ref = allocate(sizeof(Node));
        at<Node>(ref) = {key, 0, 0, 0, graph::unreached, 0};
        place(key) = ref;
    }
    void add_link(std::uint32_t source, std::uint32_t sink)
    {
        const Ref link = allocate(sizeof(Link));
        at<Link>(link) = {node(source).links, place(sink)};
        node(source).links = link;
    }

    graph::Verdict verify() const
    {
        return graph::verify(kma::Snapshot({{0, bytes}}), root, reference, from, results);
    }
};

struct Damage {
    std::string words; // in a difference that the verifier must find
    std::function<void(Graph &)> make;
};

const char *const outside = "leads outside the memory";
const char *const shared = "something else refers to";
const char *const no_node = "where no node of the tree is";
const char *const links_of_1 = "node 1: the number of links";

const std::vector<Damage> damages = {
    // to the tree
    {outside, [](Graph &g) { g.leaf_node().left = 0x10000; }},
    {outside, [](Graph &g) { g.leaf_node().right = 0xffffffff; }},
    {"the root: ref", [](Graph &g) { g.root = 0xfffffff0; }},
    {"is not in the tree", [](Graph &g) { g.root = 0; }},
    {shared, [](Graph &g) { g.leaf_node().left = g.root; }},
    {shared, [](Graph &g) { g.leaf_node().right = g.leaf(); }},
    {"is not in the tree", [](Graph &g) { g.place(9) = 0; }},
    {"node 77 is in the tree, but in no edge", [](Graph &g) { g.ensure(77); }},
    {"wrong place", [](Graph &g) { std::swap(g.node(1).key, g.node(5).key); }},
    {"wrong place", [](Graph &g) { std::swap(g.top().left, g.top().right); }},
    {"is in the tree twice", [](Graph &g) { g.leaf_node().key = g.top().key; }},
    {outside, [](Graph &g) { g.bytes.resize(g.bytes.size() - 16); }},
    {"the root: ref", [](Graph &g) { g.bytes.clear(); }},
    // to the lists
    {links_of_1, [](Graph &g) { g.node(1).links = g.first(1).next; }},
    {"the lists hold 7 links", [](Graph &g) { g.node(1).links = g.first(1).next; }},
    {"the list of node 1: ref", [](Graph &g) { g.first(1).next = g.node(1).links; }},
    {"the list of node", [](Graph &g) { g.first(2).next = g.node(1).links; }},
    {outside, [](Graph &g) { g.first(2).next = 0x7fffffff; }},
    {shared, [](Graph &g) { g.first(2).next = g.root; }},
    {no_node, [](Graph &g) { g.first(2).sink = 0; }},
    {no_node, [](Graph &g) { g.first(2).sink = g.node(1).links; }},
    {no_node, [](Graph &g) { g.first(2).sink = 0xffffffff; }},
    {"node 2: its links lead to other nodes", [](Graph &g) { g.first(2).sink = g.root; }},
    {links_of_1, [](Graph &g) { g.add_link(1, 2); }},
    // to counts and levels
    {"node 2: the count of links that enter it is 1, should be 2",
     [](Graph &g) { g.node(2).in_links = 1; }},
    {"node 3: the level is 4, should be 3", [](Graph &g) { g.node(3).level = 4; }},
    {"node 1: the kernel's out-degree is 2, should be 3",
     [](Graph &g) { g.results.out_degrees[0]--; }},
    {"node 9: the kernel's in-degree is 2, should be 1",
     [](Graph &g) { g.results.in_degrees[5]++; }},
    {"node 5: the kernel's level is 1, should be 0", [](Graph &g) { g.results.levels[4] = 1; }},
    {"not one for each node", [](Graph &g) { g.results.levels.pop_back(); }}};

} // namespace

TEST_CASE("verify: a graph that is right, and each way in which it can be wrong")
{
    const graph::Verdict right = Graph().verify();
    CHECK(right.verified());
    CHECK(right.differences.empty());
    CHECK(right.nodes == 6);
    CHECK(right.edges == 8);
    CHECK((right.depth >= 3 && right.depth <= 6));
    for (const Damage &damage : damages) {
        Graph graph;
        damage.make(graph);
        const graph::Verdict verdict = graph.verify();
        CHECK_FALSE(verdict.verified());
        CHECK(verdict.differences.size() <= 10);
        std::string all;
        for (const std::string &difference : verdict.differences)
            all += difference + "\n";
        CHECK_THAT(all, contains(damage.words));
    }
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
