// Object graphs for the tests of the collector: on the host as a model, in a heap by kernels.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "catch.hpp"
#include "support.hpp"

namespace collecting {

using namespace test;

inline const std::vector<std::string> nothing;
constexpr std::uint32_t array = 128; // beside a type's number, as the type table has it
enum : std::uint32_t { node = 1, pair, refs_type, lists, numbers };

kma::Types types();
kma::Program program_of(const std::string &options, int debug = 0);
kma::Heap make_heap(const Flavour &flavour, std::uint64_t bytes, int debug = 0);

/// All flavours, or the first.
Flavours ways();

/// A graph as the host knows it.
struct Graph {
    struct Edge {
        std::uint32_t from, offset, to, unused;
    };
    std::vector<std::uint32_t> types, lengths;
    std::vector<Edge> edges;

    std::uint32_t add(std::uint32_t type, std::uint32_t length = 1);
    void lead(std::uint32_t from, std::uint32_t offset, std::uint32_t to)
    {
        edges.push_back({from, offset, to, 0});
    }
    /// 1 for each object that these lead to.
    std::vector<std::uint32_t> reachable(const std::vector<std::uint32_t> &roots) const;
};

/// Objects of all types with random references, as many as each has room for by the layout of its
/// type.
Graph random_graph(std::mt19937 &random, std::uint32_t most);

/// Some of a graph's objects by chance, one of eight.
std::vector<std::uint32_t> random_roots(std::mt19937 &random, const Graph &graph);

/// A graph in a heap, and its collections.
class Subject {
public:
    Subject(const kma::Program &program, kma::Heap &heap, Graph graph);

    kma::Ref ref(std::uint32_t object) const { return refs_.read()[object]; }

    /// Collects with these objects as roots; compares all objects and what the collector says.
    void collect(kma::Collector &collector, const std::vector<std::uint32_t> &roots);

    /// Compacts with these objects as roots; compares all objects, wherever they are then.
    kma::Compaction compact(kma::Collector &collector, const std::vector<std::uint32_t> &roots,
                            std::uint64_t bytes = 0);

private:
    void compare(const std::vector<std::uint32_t> &living);
    void find_again(const std::vector<std::uint32_t> &living,
                    const std::vector<std::uint32_t> &roots, const std::vector<kma::Ref> &leading);

    const kma::Program &program_;
    kma::Heap &heap_;
    Graph graph_;
    cl_uint count_;
    Array<cl_uint> types_, lengths_;
    Array<kma::Ref> refs_;
};

/// Blocks without a type, which a collection must leave alone.
class Plain {
public:
    Plain(const kma::Program &program, kma::Heap &heap, std::size_t count);
    void compare_and_free();

private:
    const kma::Program &program_;
    kma::Heap &heap_;
    Array<kma::Ref> refs_;
};

/// Everything is freed, and the heap is sound and as it was.
void end(kma::Collector &collector, const kma::Heap &heap, std::uint64_t used);

} // namespace collecting
