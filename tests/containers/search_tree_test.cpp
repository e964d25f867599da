// kma/containers/search_tree.cl: each key has one node, whichever work-item adds it, in an order
// that walks keep to.
#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "subject.hpp"

using namespace test;

namespace {

constexpr std::size_t work_items = 1024, group = 64; // PoCL compiles a kernel for each group size
constexpr cl_uint rounds = 4;

using Keys = std::vector<cl_uint>;
struct Node { // as kernels tell of it
    cl_uint key, count;
    bool operator==(const Node &) const = default;
};

struct Tree {
    const Subject &subject;
    bool is_sorted;
    kma::Program kernels = subject.program("search_tree.cl", is_sorted ? " -DSORTED" : "");
    kma::Heap heap = subject.heap(16 << 20);
    Array<cl_uint> root{1, 0};
    std::map<cl_uint, Node> nodes = {}; // what must be in it, by order

    cl_uint order(cl_uint key) const { return is_sorted ? key : mix32(key); }

    std::vector<kma::Ref> add(const Keys &keys, bool looks_first)
    {
        const Array<cl_uint> refs(keys.size(), 0), bad(1, 0);
        launch(kernels, "add", {work_items, group}, heap, root, Array(keys), rounds,
               cl_uint{looks_first}, refs, bad);
        CHECK(bad.read()[0] == 0);
        for (const cl_uint key : keys)
            nodes.emplace(order(key), Node{key, 0}).first->second.count++;
        check();
        return refs.read();
    }

    // The first nodes, one more than there are, or all that are taken.
    void visit(bool takes, std::size_t most)
    {
        const Array<Node> found(most, Node{});
        const Array<cl_uint> count(1, 0);
        launch(kernels, "visit", {group, group}, heap, root, cl_uint{takes}, found, cl_uint(most),
               count);
        std::vector<Node> expected;
        for (const auto &[place, node] : nodes)
            expected.push_back(node);
        expected.resize(std::min(most, nodes.size()));
        REQUIRE(count.read()[0] == expected.size());
        std::vector<Node> visited = found.read();
        visited.resize(expected.size());
        CHECK(visited == expected);
    }
    void check()
    {
        visit(false, nodes.size() + 1);
        subject.check(heap, nodes.size());
    }
    void take(std::size_t most)
    {
        visit(true, most);
        nodes.erase(nodes.begin(), std::next(nodes.begin(), std::min(most, nodes.size())));
        check();
    }
};

// Keys in no order, each from several work-items.
Keys random_keys(cl_uint seed)
{
    Keys keys(work_items * rounds);
    for (cl_uint i = 0; i < keys.size(); i++)
        keys[i] = mix32(seed * 100000 + i) % 1500;
    keys[0] = 0;
    keys[1] = 0xffffffff;
    return keys;
}

void check_tree(const Subject &subject, bool is_sorted)
{
    INFO(subject.name() << (is_sorted ? ", sorted" : ", mixed"));
    Tree tree{subject, is_sorted};
    tree.check();                         // an empty one
    for (const cl_uint seed : {1u, 2u}) { // the second time most are there
        const Keys keys = random_keys(seed);
        const std::vector<kma::Ref> refs = tree.add(keys, seed == 2);
        std::map<cl_uint, kma::Ref> ref_of;
        for (std::size_t i = 0; i < keys.size(); i++) {
            CHECK(refs[i] != 0);
            CHECK(ref_of.emplace(keys[i], refs[i]).first->second == refs[i]);
        }
    }
    tree.take(tree.nodes.size() / 2);
    tree.add(random_keys(3), true); // the tree goes on
    tree.take(tree.nodes.size() + 1);
    CHECK(tree.root.read()[0] == 0);
}

} // namespace

TEST_CASE("a search tree has one node for each key, in either order, on every kind of heap",
          "[search_tree][long]")
{
    for (const Subject &subject : few_subjects()) {
        check_tree(subject, false);
        if (subject.kind == kma::default_heap_kind || scaled(1) > 1)
            check_tree(subject, true);
    }
}

// samples.graph.chain shows that ids in ascending order make no list of a tree in mixed order.
TEST_CASE("a search tree of one heap: in key order", "[search_tree]")
{
    check_tree({}, true);
}
