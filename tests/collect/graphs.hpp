// Object graphs for the tests of the collector: on the host as a model, in a heap by kernels.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "catch.hpp"
#include "support.hpp"

namespace collecting {

using namespace test;

inline const std::vector<std::string> nothing;
constexpr std::uint32_t array = 128; // beside a type's number, as the type table has it
enum : std::uint32_t { node = 1, pair, refs_type, lists, numbers, large, wide };

kma::Types types(std::uint32_t large_words = 1);

/// All flavours, or the first.
Flavours ways();

/// A collector that may empty all regions, which have so many bytes.
kma::CollectorOptions regions(std::uint64_t bytes);

struct Setting {
    std::uint64_t bytes;
    kma::CollectorOptions collector = {};
    std::string options = flavours().front().options;
    int debug = 0;
    std::uint64_t max_bytes = 0;
    kma::Storage storage = kma::Storage::buffer;
    std::uint32_t large_words = 1; ///< of type Large
    std::string heap_options = {}; ///< for the library's own kernels only
};

/// A heap with a collector, and the kernels of collect.cl.
struct Place {
    explicit Place(const Setting &setting);

    /// Launches a kernel with the heap as its first argument; alone or in groups of 64.
    template <class... Args>
    void run(const std::string &kernel, std::size_t work_items, const Args &...args)
    {
        launch(program, kernel, work_items == 1 ? Shape{1, 1} : in_groups(work_items, 64), heap,
               args...);
    }
    /// Checks that a collection frees everything, and that the heap is sound and as it was.
    void end();

    kma::Program program;
    kma::Heap heap;
    std::optional<kma::Collector> collector;
    std::uint64_t used; ///< bytes, when it was made
};

using Objects = std::vector<std::uint32_t>; // numbers of objects, or a number for each

/// A graph as the host knows it.
struct Graph {
    struct Edge {
        std::uint32_t from, offset, to, unused;
    };
    Objects types, lengths;
    std::vector<Edge> edges;

    std::uint32_t add(std::uint32_t type, std::uint32_t length = 1);
    void lead(std::uint32_t from, std::uint32_t offset, std::uint32_t to)
    {
        edges.push_back({from, offset, to, 0});
    }
    /// 1 for each object that these lead to.
    Objects reachable(const Objects &roots) const;
};

/// Objects of many types with random references, as many as each has space for.
Graph random_graph(std::mt19937 &random, std::uint32_t most);

/// Some of a graph's objects by chance, one of eight.
Objects random_roots(std::mt19937 &random, const Graph &graph);

/// A graph in a heap, and its collections.
class Subject {
public:
    Subject(Place &place, Graph graph);

    std::vector<kma::Ref> refs() const { return refs_.read(); }
    kma::Ref ref(std::uint32_t object) const { return refs()[object]; }

    /// Makes these objects roots from now on, instead of those before.
    void keep(const Objects &roots);
    /// Checks that all objects that the roots lead to are as they were, wherever they are now.
    void check();

    /// Collects or compacts with these objects as roots; checks all objects, and what the collector
    /// says.
    kma::Collection collect(const Objects &roots);
    kma::Compaction compact(const Objects &roots, std::uint64_t bytes = 0);

private:
    void compare();
    std::uint64_t survivors() const { return std::uint64_t(std::ranges::count(living_, 1u)); }

    Place *place_;
    Graph graph_;
    cl_uint count_;
    Array<cl_uint> types_, lengths_;
    Array<kma::Ref> refs_;
    Objects roots_, living_;
    std::optional<Array<kma::Ref>> leading_; // 0, and the refs of the roots
    std::optional<kma::Collector::Roots> registered_;
};

/// Objects of one type, of which one of `step` is a root and leads to the next.
Subject thinned(Place &place, std::uint32_t count, std::uint32_t step, std::uint32_t type = node);

/// Collects or compacts random graphs, in all flavours, between blocks without a type.
void check_random_graphs(unsigned seed, bool compacts);

/// Blocks without a type, which a collection must leave alone.
Array<kma::Ref> make_plain(Place &place, std::size_t count);
void compare_and_free(Place &place, const Array<kma::Ref> &plain);

} // namespace collecting
