#include "graphs.hpp"

#include <algorithm>
#include <set>

namespace collecting {

kma::Types types(std::uint32_t large_words)
{
    kma::Types types;
    types.add("Node", {"uint key", "Node *left", "Node *right", "atomic Node *next", "void *any",
                       "ulong more"});
    types.add("Pair", {"Node *nodes[3]", "float4 place", "Refs *refs"});
    types.add_element("Refs", "Node *");
    types.add_element("Lists", "Refs *");
    types.add_element("Numbers", "uint");
    types.add("Large", {"Large *next", "uint words[" + std::to_string(large_words) + "]"});
    types.add("Wide", {"Wide *to[300]", "void *any"});
    return types;
}

Flavours ways()
{
    Flavours all = flavours();
    if (first_flavour_only())
        all.resize(1);
    return all;
}

kma::CollectorOptions regions(std::uint64_t bytes)
{
    return {.region_bytes = bytes, .share = 1, .fullest = 1};
}

Place::Place(const Setting &setting)
    : program(device(),
              {{"types.cl", types(setting.large_words).text()}, program_source("collect.cl")},
              {.options = setting.options, .debug = setting.debug}),
      heap(device(), setting.bytes,
           {.storage = setting.storage,
            .debug = setting.debug,
            .build_options = setting.options + setting.heap_options,
            .max_bytes = setting.max_bytes}),
      collector(std::in_place, heap, types(setting.large_words), setting.collector),
      used(heap.stats().used)
{
}

void Place::end()
{
    collector->collect();
    CHECK(heap.check() == nothing);
    CHECK(heap.stats().used == used);
    CHECK(heap.error_text().empty());
}

std::uint32_t Graph::add(std::uint32_t type, std::uint32_t length)
{
    types.push_back(type);
    lengths.push_back(length);
    return static_cast<std::uint32_t>(types.size()) - 1;
}

Objects Graph::reachable(const Objects &roots) const
{
    std::vector<Objects> to(types.size());
    for (const Edge &edge : edges)
        to[edge.from].push_back(edge.to);
    Objects living(types.size()), left;
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
    const auto one_of = [&](const Objects &all) { return all[random() % all.size()]; };
    const Objects kinds = {
        node,          node,           node, pair, node | array, pair | array, refs_type | array,
        lists | array, numbers | array};
    Graph graph;
    const std::uint32_t count = 1 + random() % most;
    for (std::uint32_t i = 0; i < count; i++) {
        const std::uint32_t type = one_of(kinds);
        graph.add(type, type < array ? 1 : one_of({0, 1, 2, 5, 63, 64, 65, 200}));
    }
    const auto layout = types().layout();
    const std::uint32_t density = 1 + random() % 8; // some graphs have few references
    for (std::uint32_t i = 0; i < count; i++) {
        const auto &type = layout[(graph.types[i] & ~array) - 1];
        for (std::uint32_t e = 0; e < graph.lengths[i]; e++)
            for (const auto &reference : type.references) {
                const std::uint32_t to = random() % count;
                if (random() % 8 < density &&
                    (reference.target == 0 || reference.target == (graph.types[to] & ~array)))
                    graph.lead(i, e * type.bytes + reference.offset, to);
            }
    }
    return graph;
}

Objects random_roots(std::mt19937 &random, const Graph &graph)
{
    Objects roots;
    for (std::uint32_t object = 0; object < graph.types.size(); object++)
        if (random() % 8 == 0)
            roots.push_back(object);
    std::ranges::shuffle(roots, random);
    return roots;
}

void check_random_graphs(unsigned seed, bool compacts)
{
    std::mt19937 random(seed);
    for (const Flavour &flavour : ways()) {
        INFO(flavour.name);
        Place place({.bytes = 8 << 20,
                     .collector = compacts ? regions(8192) : kma::CollectorOptions{},
                     .options = flavour.options});
        const Array<kma::Ref> plain = make_plain(place, 512);
        std::uint64_t moved = 0;
        const std::size_t graphs = scaled(1000, 20);
        for (std::size_t i = 0; i < graphs; i++) {
            const bool is_large = i % (compacts ? 20 : 100) == 0;
            Graph graph = random_graph(random, is_large ? 2000 : 40);
            const Objects roots = random_roots(random, graph);
            INFO("graph " << i << " of " << graph.types.size() << " objects");
            Subject subject(place, std::move(graph));
            if (compacts)
                moved += subject.compact(roots).moved_objects;
            else
                subject.collect(roots);
            if (is_large)
                CHECK(place.heap.check() == nothing);
            if (is_large && compacts) {
                subject.compact(roots, 1 << 20); // those that are left, once more
                CHECK(place.heap.check() == nothing);
            }
            place.collector->collect(); // without roots
        }
        CHECK((moved > graphs) == compacts);
        compare_and_free(place, plain);
        place.end();
    }
}

Subject::Subject(Place &place, Graph graph)
    : place_(&place), graph_(std::move(graph)), count_(static_cast<cl_uint>(graph_.types.size())),
      types_(graph_.types), lengths_(graph_.lengths), refs_(count_, 0)
{
    for (const cl_uint large : {1, 0}) // first: while so much is free side by side
        place.run("make", count_, types_, lengths_, refs_, count_, large);
    REQUIRE(std::ranges::count(refs(), 0u) == 0);
    if (!graph_.edges.empty())
        place.run("edges", graph_.edges.size(), refs_, Array(graph_.edges),
                  cl_uint(graph_.edges.size()), cl_uint{1}, refs_);
}

Subject thinned(Place &place, std::uint32_t count, std::uint32_t step, std::uint32_t type)
{
    Graph graph;
    Objects roots;
    for (std::uint32_t i = 0; i < count; i++) {
        graph.add(type);
        if (i % step != 0)
            continue;
        if (!roots.empty())
            graph.lead(roots.back(), type == node ? 4 : 0, i);
        roots.push_back(i);
    }
    Subject made(place, std::move(graph));
    made.keep(roots);
    return made;
}

void Subject::keep(const Objects &roots)
{
    const std::vector<kma::Ref> all = refs();
    std::vector<kma::Ref> leading{0};
    for (const std::uint32_t root : roots)
        leading.push_back(all[root]);
    roots_ = roots;
    living_ = graph_.reachable(roots);
    leading_.emplace(leading);
    registered_.emplace(place_->collector->add_roots(leading_->buffer(), leading.size()));
}

void Subject::compare()
{
    const Array<cl_uint> wrong(2, 0);
    place_->run("compare", count_, types_, lengths_, refs_, Array(living_), count_, wrong);
    std::vector<Graph::Edge> kept = graph_.edges;
    std::erase_if(kept, [&](const Graph::Edge &edge) { return living_[edge.from] == 0; });
    if (!kept.empty())
        place_->run("edges", kept.size(), refs_, Array(kept), cl_uint(kept.size()), cl_uint{0},
                    wrong);
    CHECK(wrong.read() == std::vector<cl_uint>{0, 0});
}

kma::Collection Subject::collect(const Objects &roots)
{
    keep(roots);
    const kma::Collection result = place_->collector->collect();
    registered_.reset();
    CHECK(result.marked_objects == survivors());
    CHECK(result.freed_objects == count_ - survivors());
    compare();
    return result;
}

kma::Compaction Subject::compact(const Objects &roots, std::uint64_t bytes)
{
    keep(roots);
    const std::vector<kma::Ref> before = refs();
    const kma::Compaction result = place_->collector->compact(bytes);
    registered_.reset();
    CHECK(result.collection.marked_objects == survivors());
    check();
    std::uint64_t moved = 0;
    const std::vector<kma::Ref> now = refs();
    for (std::size_t i = 0; i < count_; i++)
        moved += living_[i] != 0 && now[i] != before[i];
    CHECK(result.moved_objects == moved);
    return result;
}

// Follows the references in the heap from the roots on, to find where each object is now.
void Subject::check()
{
    std::vector<std::uint8_t> memory(place_->heap.bytes());
    device().queue().enqueueReadBuffer(place_->heap.buffer(), CL_TRUE, 0, memory.size(),
                                       memory.data());
    std::vector<std::vector<Graph::Edge>> edges(count_);
    for (const Graph::Edge &edge : graph_.edges)
        edges[edge.from].push_back(edge);
    std::vector<kma::Ref> found(count_);
    Objects left;
    const auto reach = [&](std::uint32_t object, kma::Ref ref) {
        if (std::exchange(found[object], ref) == 0)
            left.push_back(object);
    };
    const std::vector<kma::Ref> leading = leading_->read();
    CHECK(leading[0] == 0);
    for (std::size_t i = 0; i < roots_.size(); i++)
        reach(roots_[i], leading[i + 1]);
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
        if (living_[i] != 0)
            all.insert(found[i]);
    CHECK(all.size() == survivors()); // none in another's place
    CHECK(!all.contains(0));
    device().queue().enqueueWriteBuffer(refs_.buffer(), CL_TRUE, 0, count_ * sizeof(kma::Ref),
                                        found.data());
    compare();
}

Array<kma::Ref> make_plain(Place &place, std::size_t count)
{
    const Array<kma::Ref> plain(count, 0);
    place.run("plain", count, plain, cl_uint{0});
    return plain;
}

void compare_and_free(Place &place, const Array<kma::Ref> &plain)
{
    place.run("plain", plain.size(), plain, cl_uint{1});
    CHECK(plain.read() == std::vector<kma::Ref>(plain.size(), 1));
}

} // namespace collecting
