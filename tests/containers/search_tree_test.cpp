// kma/containers/search_tree.cl: each key has one node, whoever adds it, in an order that walks keep to.
#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "catch.hpp"
#include "subject.hpp"

using namespace test;

namespace {

constexpr cl_uint none = 0xffffffff;
constexpr std::size_t work_items = 1024, group = 64; // PoCL compiles a kernel for each size of groups
constexpr cl_uint rounds = 4;

struct Entry { // of search_tree.cl
    cl_uint key;
    kma::Ref left, right;
    cl_uint count, twice;
};

// How a tree must be: its keys in order, each with the number of work-items that brought it.
class Reference {
public:
    explicit Reference(bool is_sorted) : is_sorted_(is_sorted) {}

    cl_uint order(cl_uint key) const { return is_sorted_ ? key : mix32(key); }
    void add(const std::vector<cl_uint> &keys)
    {
        for (const cl_uint key : keys)
            nodes_.emplace(order(key), Node{key, 0}).first->second.count++;
    }
    std::vector<cl_uint> keys() const { return of_each(&Node::key); }
    std::vector<cl_uint> counts() const { return of_each(&Node::count); }
    cl_uint after(cl_uint key) const
    {
        const auto next = nodes_.upper_bound(order(key));
        return next != nodes_.end() ? next->second.key : none;
    }
    bool has(cl_uint key) const { return nodes_.contains(order(key)); }
    cl_uint take_first()
    {
        const cl_uint key = nodes_.begin()->second.key;
        nodes_.erase(nodes_.begin());
        return key;
    }
    std::size_t size() const { return nodes_.size(); }

private:
    struct Node {
        cl_uint key, count;
    };
    std::vector<cl_uint> of_each(cl_uint Node::*field) const
    {
        std::vector<cl_uint> all;
        for (const auto &[place, node] : nodes_)
            all.push_back(node.*field);
        return all;
    }

    bool is_sorted_;
    std::map<cl_uint, Node> nodes_; // by order
};

struct Tree {
    const Subject &subject;
    kma::Program kernels;
    kma::Heap heap{device(), 16 << 20, subject.heap_options()};
    Array<cl_uint> root{1, 0};
    Reference expected;

    Tree(const Subject &on, bool is_sorted)
        : subject(on), kernels(on.program("search_tree.cl", is_sorted ? " -DSORTED" : "")), expected(is_sorted)
    {
    }

    std::vector<cl_uint> add(const std::vector<cl_uint> &keys, bool looks_first)
    {
        const Array<cl_uint> refs(keys.size(), 0), bad(1, 0);
        launch(kernels, "add", {work_items, group}, heap, root, Array<cl_uint>(keys), rounds, cl_uint{looks_first}, refs, bad);
        CHECK(bad.read()[0] == 0);
        expected.add(keys);
        return refs.read();
    }

    void check()
    {
        const std::vector<cl_uint> keys = expected.keys(), counts = expected.counts();
        const Array<cl_uint> walked(keys.size() + 1, none), counted(keys.size() + 1, none), nodes(1, 0);
        launch(kernels, "walk", {group, group}, heap, root, walked, counted, static_cast<cl_uint>(keys.size() + 1), nodes);
        REQUIRE(nodes.read()[0] == keys.size());
        std::vector<cl_uint> found = walked.read(), times = counted.read();
        found.pop_back();
        times.pop_back();
        CHECK(found == keys);
        CHECK(times == counts);
        if (subject.kind != kma::HeapKind::bump)
            CHECK(heap.stats().blocks == keys.size());
        CHECK(heap.check().empty());
        CHECK(heap.error_text() == "");
    }

    void check_looks()
    {
        std::vector<cl_uint> keys(work_items);
        for (cl_uint i = 0; i < work_items; i++)
            keys[i] = i % 3 == 0 ? mix32(i) : i * 3; // of which some are in the tree
        const Array<cl_uint> after(work_items, 7), is_there(work_items, 7);
        launch(kernels, "look", {work_items, group}, heap, root, Array<cl_uint>(keys), after, is_there);
        const std::vector<cl_uint> behind = after.read(), there = is_there.read();
        for (cl_uint i = 0; i < work_items; i++) {
            CHECK(behind[i] == expected.after(keys[i]));
            CHECK((there[i] == 1) == expected.has(keys[i]));
        }
    }

    void take(std::size_t most)
    {
        const Array<cl_uint> keys(most, none), nodes(1, 0);
        const std::size_t wanted = std::min(most, expected.size());
        launch(kernels, "take", {group, group}, heap, root, keys, static_cast<cl_uint>(most), nodes);
        CHECK(nodes.read()[0] == wanted);
        const std::vector<cl_uint> taken = keys.read();
        for (std::size_t i = 0; i < wanted; i++)
            CHECK(taken[i] == expected.take_first());
    }

    // The nodes on the longest way from the root.
    std::size_t depth() const
    {
        const kma::Snapshot snapshot = heap.snapshot();
        std::size_t deepest = 0;
        std::vector<std::pair<kma::Ref, std::size_t>> todo = {{root.read()[0], 1}};
        while (!todo.empty()) {
            const auto [ref, level] = todo.back();
            todo.pop_back();
            if (ref == 0)
                continue;
            REQUIRE(level <= expected.size());
            deepest = std::max(deepest, level);
            const Entry *entry = snapshot.deref<Entry>(ref);
            todo.push_back({entry->left, level + 1});
            todo.push_back({entry->right, level + 1});
        }
        return deepest;
    }
};

// Every key comes from several work-items, in no order, or from ids that come in order.
std::vector<cl_uint> keys_by_chance(cl_uint seed)
{
    std::vector<cl_uint> keys(work_items * rounds);
    for (cl_uint i = 0; i < keys.size(); i++)
        keys[i] = mix32(seed * 100000 + i) % 1500;
    keys[0] = 0;
    keys[1] = none;
    return keys;
}

void check_tree(const Subject &subject, bool is_sorted)
{
    INFO(kma::name_of(subject.kind) << " " << subject.options << " debug " << subject.debug << (is_sorted ? ", sorted" : ", mixed"));
    Tree tree(subject, is_sorted);
    tree.check(); // an empty one
    for (const cl_uint seed : {1u, 2u}) { // the second time most are there
        const std::vector<cl_uint> keys = keys_by_chance(seed), refs = tree.add(keys, seed == 2);
        std::map<cl_uint, cl_uint> ref_of;
        for (std::size_t i = 0; i < keys.size(); i++) {
            CHECK(refs[i] != 0);
            CHECK(ref_of.emplace(keys[i], refs[i]).first->second == refs[i]);
        }
        tree.check();
        tree.check_looks();
    }
    tree.take(tree.expected.size() / 2);
    tree.check();
    tree.add(keys_by_chance(3), true); // the tree goes on
    tree.check();
    tree.take(tree.expected.size() + 1);
    tree.check();
    CHECK(tree.root.read()[0] == 0);
}

} // namespace

TEST_CASE("a search tree has one node for each key, in either order, on every kind of heap", "[search_tree]")
{
    for (const Subject &subject : few_subjects()) {
        check_tree(subject, false);
        if (subject.debug == 0 && (subject.kind == kma::default_heap_kind || scaled(1) > 1))
            check_tree(subject, true);
    }
}

TEST_CASE("a search tree of one heap: both orders, and ids that come in order make no list of it", "[search_tree]")
{
    const Subject subject{kma::default_heap_kind, "", 0};
    check_tree(subject, true);
    Tree tree(subject, false);
    std::vector<cl_uint> ids(work_items * rounds);
    for (cl_uint i = 0; i < ids.size(); i++)
        ids[i] = i;
    tree.add(ids, false);
    tree.check();
    CHECK(tree.depth() < 40); // 2 ln 4096 is 17, and the deepest of a random tree is about twice the average
}
