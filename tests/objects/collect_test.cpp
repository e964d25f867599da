// World::collect: exactly what roots reach lives on.
#include "worlds.hpp"

using namespace worlds;

namespace {

// Edges of an object are in the order of these fields.
const Town town{{"uint number", "Thing any"},
                {{"Node", "Thing", {"Node next", "Node others[2]"}},
                 {"Leaf", "Thing", {"ushort tags[3]", "atomic Node next", "Leaf others[2]"}}}};

// Half of the objects are Nodes, the others Leaves.
Subject web(std::uint32_t count, const std::string &options = flavours().front().options)
{
    const std::uint64_t each = count / 2 + 4096;
    Subject made(
        town,
        kma::World::bytes_for(device(), town.schema(), {{"Node", each}, {"Leaf", each}}, options),
        options);
    made.make(count / 2);
    return made;
}

// Collects with these objects as roots; compares with what they reach.
kma::WorldCollection collect(Subject &subject, const std::vector<cl_uint> &roots,
                             std::uint64_t queue_bytes = 0)
{
    const std::vector<cl_uint> refs = subject.table().read();
    std::vector<cl_uint> leading{0};
    for (const cl_uint root : roots)
        leading.push_back(refs[root]);
    const Array<cl_uint> buffer(leading);
    const kma::WorldRoot root = subject.world().root(buffer.buffer(), "Thing");
    auto before = subject.image().objects;
    const kma::WorldCollection result = subject.world().collect(queue_bytes);
    decltype(before) expected;
    std::vector<cl_uint> left = roots;
    while (!left.empty()) {
        const auto object = before.extract(left.back());
        left.pop_back();
        if (object.empty())
            continue;
        left.insert(left.end(), object.mapped().to.begin(), object.mapped().to.end());
        expected.emplace(object.key(), object.mapped());
    }
    CHECK((subject.image().objects == expected));
    CHECK(result.kept == expected.size());
    CHECK(result.deleted == before.size());
    CHECK(subject.world().check(true).empty());
    CHECK(subject.world().error_text() == "");
    return result;
}

void random_webs(const Flavour &flavour, std::size_t webs, std::uint32_t most)
{
    std::mt19937 random(7);
    for (std::size_t n = 0; n < webs; n++) {
        const std::uint32_t count = (2 + random() % most) & ~1u, density = 1 + random() % 8;
        INFO(flavour.name << ", web " << n << " of " << count);
        Subject subject = web(count, flavour.options);
        std::vector<cl_uint> edges, roots;
        for (cl_uint i = 0; i < references * count; i++)
            edges.push_back(random() % 8 < density ? random() % count : count);
        for (cl_uint object = 0; object < count; object++)
            if (random() % 50 == 0)
                roots.push_back(object);
        subject.link(edges);
        collect(subject, roots);
        collect(subject, {});
    }
}

} // namespace

TEST_CASE("of random worlds exactly what roots reach survives", "[world_collect][long]")
{
    for (const Flavour &flavour : widths())
        random_webs(flavour, scaled(4, 2), 2000);
}

TEST_CASE("a small world is collected", "[world_collect]")
{
    random_webs(flavours().front(), 1, 300);
}

TEST_CASE("queues of worlds with hardly any room drop objects, and all are marked",
          "[world_collect][long]")
{
    constexpr std::uint32_t count = 3000;
    Subject subject = web(count, flavours().front().options + " -DKMA_REACH_STEPS=2u");
    std::vector<cl_uint> edges(references * count, count);
    for (cl_uint i = 0; i < 1000; i++) { // a tree of nodes, each leading to a leaf
        edges[references * i] = 1500 + i;
        for (cl_uint r = 0; r < 2; r++)
            edges[references * i + 2 + r] = 2 * i + 1 + r < 1000 ? 2 * i + 1 + r : count;
    }
    subject.link(edges);
    CHECK(collect(subject, {0}, 40).repeats > 0);
}

TEST_CASE("a long list of objects is followed", "[world_collect]")
{
    constexpr std::uint32_t count = 40000;
    Subject subject = web(count);
    std::vector<cl_uint> edges(references * count, count);
    for (cl_uint i = 0; i + 1 < count / 2; i++)
        edges[references * i + 1] = i + 1;
    subject.link(edges);
    const kma::WorldCollection result = collect(subject, {count / 4});
    CHECK(result.kept == count / 4);
    CHECK(result.rounds <= count / 4 / 64 + 32);
}

TEST_CASE("a reference to no object ends a collection of a world", "[world_collect]")
{
    Subject subject = web(100);
    const Array<cl_uint> root(1, cl_uint{12345});
    const kma::WorldRoot said = subject.world().root(root.buffer(), "Node");
    CHECK_THROWS_WITH(subject.world().collect(),
                      contains("nothing was deleted: references that lead to no object"));
    CHECK(subject.world().count("Thing") == 100);
}
