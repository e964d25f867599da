#include "graphs.hpp"

#include <algorithm>
#include <set>

namespace collecting {

kma::Types types()
{
    kma::Types types;
    types.add("Node", {"uint key", "Node *left", "Node *right", "atomic Node *next", "void *any",
                       "ulong more"});
    types.add("Pair", {"Node *nodes[3]", "float4 place", "Refs *refs"});
    types.add_element("Refs", "Node *");
    types.add_element("Lists", "Refs *");
    types.add_element("Numbers", "uint");
    return types;
}
kma::Program program_of(const std::string &options, int debug)
{
    kma::ProgramOptions build;
    build.options = options + " -DNODE=1 -DPAIR=2 -DREFS=3 -DLISTS=4 -DNUMBERS=5";
    build.debug = debug;
    return {device(), {{"types.cl", types().text()}, program_source("collect.cl")}, build};
}

kma::Heap make_heap(const Flavour &flavour, std::uint64_t bytes, int debug)
{
    kma::HeapOptions options;
    options.build_options = flavour.options;
    options.debug = debug;
    return {device(), bytes, options};
}

std::uint32_t Graph::add(std::uint32_t type, std::uint32_t length)
{
    types.push_back(type);
    lengths.push_back(length);
    return static_cast<std::uint32_t>(types.size()) - 1;
}

std::vector<std::uint32_t> Graph::reachable(const std::vector<std::uint32_t> &roots) const
{
    std::vector<std::vector<std::uint32_t>> to(types.size());
    for (const Edge &edge : edges)
        to[edge.from].push_back(edge.to);
    std::vector<std::uint32_t> living(types.size()), left;
    const auto reach = [&](std::uint32_t i) {
        if (!std::exchange(living[i], 1u))
            left.push_back(i);
    };
    std::ranges::for_each(roots, reach);
    while (!left.empty()) {
        const std::uint32_t i = left.back();
        left.pop_back();
        std::ranges::for_each(to[i], reach);
    }
    return living;
}

Graph random_graph(std::mt19937 &random, std::uint32_t most)
{
    const auto below = [&](std::uint32_t n) {
        return std::uniform_int_distribution<std::uint32_t>(0, n - 1)(random);
    };
    const std::uint32_t kinds[] = {
        node,          node,           node, pair, node | array, pair | array, refs_type | array,
        lists | array, numbers | array};
    Graph graph;
    const std::uint32_t count = 1 + below(most);
    for (std::uint32_t i = 0; i < count; i++) {
        const std::uint32_t type = kinds[below(std::size(kinds))];
        const std::uint32_t lengths[] = {0, 1, 2, 5, 63, 64, 65, 200};
        graph.add(type, type < array ? 1 : lengths[below(std::size(lengths))]);
    }
    const auto layout = types().layout();
    const std::uint32_t density = 1 + below(8); // some graphs have few references
    for (std::uint32_t i = 0; i < count; i++) {
        const auto &type = layout[(graph.types[i] & ~array) - 1];
        for (std::uint32_t e = 0; e < graph.lengths[i]; e++) {
            for (const auto &reference : type.references) {
                const std::uint32_t to = below(count);
                if (below(8) < density &&
                    (reference.target == 0 || reference.target == (graph.types[to] & ~array)))
                    graph.lead(i, e * type.bytes + reference.offset, to);
            }
        }
    }
    return graph;
}

std::vector<std::uint32_t> random_roots(std::mt19937 &random, const Graph &graph)
{
    std::vector<std::uint32_t> roots, fewer;
    for (std::uint32_t object = 0; object < graph.types.size(); object++)
        if (random() % 8 == 0)
            (random() % 2 == 0 ? fewer : roots).push_back(object);
    std::ranges::copy(fewer, std::back_inserter(roots));
    return roots;
}

Subject::Subject(const kma::Program &program, kma::Heap &heap, Graph graph)
    : program_(program), heap_(heap), graph_(std::move(graph)),
      count_(static_cast<cl_uint>(graph_.types.size())), types_(graph_.types),
      lengths_(graph_.lengths), refs_(count_, 0)
{
    for (const cl_uint large : {1, 0}) // first: while so much is free side by side
        launch(program_, "make", in_groups(count_, 64), heap_, types_, lengths_, refs_, count_,
               large);
    REQUIRE(std::ranges::count(refs_.read(), 0u) == 0);
    if (!graph_.edges.empty())
        launch(program_, "set", in_groups(graph_.edges.size(), 64), heap_, refs_,
               Array(graph_.edges), cl_uint(graph_.edges.size()));
}

void Subject::compare(const std::vector<std::uint32_t> &living)
{
    const Array<cl_uint> wrong(2, 0);
    launch(program_, "compare", in_groups(count_, 64), heap_, types_, lengths_, refs_,
           Array(living), count_, wrong);
    std::vector<Graph::Edge> kept;
    std::ranges::copy_if(graph_.edges, std::back_inserter(kept),
                         [&](const auto &edge) { return living[edge.from] != 0; });
    if (!kept.empty())
        launch(program_, "compare_edges", in_groups(kept.size(), 64), heap_, refs_, Array(kept),
               cl_uint(kept.size()), wrong);
    CHECK(wrong.read() == std::vector<cl_uint>{0, 0});
}

void Subject::collect(kma::Collector &collector, const std::vector<std::uint32_t> &roots)
{
    const std::vector<kma::Ref> all = refs_.read();
    REQUIRE(std::ranges::count(all, 0u) == 0);
    std::vector<kma::Ref> leading;
    for (const std::uint32_t root : roots)
        leading.push_back(all[root]);
    leading.push_back(0); // leads nowhere
    const Array<kma::Ref> buffer(leading);
    const auto registered = collector.add_roots(buffer.buffer(), leading.size());
    const kma::Collection result = collector.collect();
    const std::vector<std::uint32_t> living = graph_.reachable(roots);
    const auto survivors = static_cast<std::uint64_t>(std::ranges::count(living, 1u));
    CHECK(result.marked_objects == survivors);
    CHECK(result.freed_objects == count_ - survivors);
    compare(living);
}

kma::Compaction Subject::compact(kma::Collector &collector, const std::vector<std::uint32_t> &roots,
                                 std::uint64_t bytes)
{
    const std::vector<kma::Ref> all = refs_.read();
    std::vector<kma::Ref> leading{0}; // leads nowhere
    for (const std::uint32_t root : roots)
        leading.push_back(all[root]);
    const Array<kma::Ref> buffer(leading);
    const auto registered = collector.add_roots(buffer.buffer(), leading.size());
    const kma::Compaction result = collector.compact(bytes);
    const std::vector<std::uint32_t> living = graph_.reachable(roots);
    const auto survivors = static_cast<std::uint64_t>(std::ranges::count(living, 1u));
    CHECK(result.collection.marked_objects == survivors);
    const std::vector<kma::Ref> now = buffer.read();
    CHECK(now[0] == 0);
    find_again(living, roots, {now.begin() + 1, now.end()});
    std::uint64_t moved = 0;
    const std::vector<kma::Ref> found = refs_.read();
    for (std::size_t i = 0; i < count_; i++)
        moved += living[i] != 0 && found[i] != all[i];
    CHECK(result.moved_objects == moved);
    compare(living);
    return result;
}

// Follows the references in the heap from the roots on, and notes where each object is now.
void Subject::find_again(const std::vector<std::uint32_t> &living,
                         const std::vector<std::uint32_t> &roots,
                         const std::vector<kma::Ref> &leading)
{
    std::vector<std::uint8_t> memory(heap_.bytes());
    device().queue().enqueueReadBuffer(heap_.buffer(), CL_TRUE, 0, memory.size(), memory.data());
    std::vector<std::vector<Graph::Edge>> edges(count_);
    for (const Graph::Edge &edge : graph_.edges)
        edges[edge.from].push_back(edge);
    std::vector<kma::Ref> found(count_);
    std::vector<std::uint32_t> left;
    const auto reach = [&](std::uint32_t object, kma::Ref ref) {
        if (std::exchange(found[object], ref) == 0)
            left.push_back(object);
    };
    for (std::size_t i = 0; i < roots.size(); i++)
        reach(roots[i], leading[i]);
    while (!left.empty()) {
        const std::uint32_t from = left.back();
        left.pop_back();
        for (const Graph::Edge &edge : edges[from]) {
            const std::uint64_t at = std::uint64_t{found[from]} * 16 + edge.offset;
            REQUIRE(at + 4 <= memory.size());
            kma::Ref to = 0;
            std::copy_n(&memory[at], sizeof to, reinterpret_cast<std::uint8_t *>(&to));
            reach(edge.to, to);
        }
    }
    std::set<kma::Ref> all;
    for (std::size_t i = 0; i < count_; i++)
        if (living[i] != 0)
            all.insert(found[i]);
    CHECK(all.size() == std::size_t(std::ranges::count(living, 1u))); // none in another's place
    CHECK(!all.contains(0));
    device().queue().enqueueWriteBuffer(refs_.buffer(), CL_TRUE, 0, count_ * sizeof(kma::Ref),
                                        found.data());
}

Plain::Plain(const kma::Program &program, kma::Heap &heap, std::size_t count)
    : program_(program), heap_(heap), refs_(count, 0)
{
    launch(program_, "plain", in_groups(refs_.size(), 64), heap_, refs_, cl_uint{0});
}

void Plain::compare_and_free()
{
    launch(program_, "plain", in_groups(refs_.size(), 64), heap_, refs_, cl_uint{1});
    const auto right = refs_.read();
    CHECK(std::ranges::count(right, 1u) == std::ptrdiff_t(right.size()));
}

Flavours ways()
{
    Flavours all = flavours();
    if (first_flavour_only())
        all.resize(1);
    return all;
}

void end(kma::Collector &collector, const kma::Heap &heap, std::uint64_t used)
{
    collector.collect();
    CHECK(heap.check() == nothing);
    CHECK(heap.stats().used == used);
    CHECK(heap.error_text().empty());
}

} // namespace collecting
