// World::collect: exactly what roots reach lives on.
#include <algorithm>
#include <random>

#include "catch.hpp"
#include "support.hpp"

using namespace test;

namespace {

// Of each object: one to any, one to a Node, and two to its own class.
constexpr std::uint32_t references = 4;

// Objects of two classes; object number i has the references edges[4 * i …], numbers of objects or
// ~0 for none.
class Web {
public:
    Web(const std::string &options, std::uint32_t count)
        : count_(count),
          world_(device(), schema(), {{"web.cl", text}},
                 kma::World::bytes_for(device(), schema(),
                                       {{"Node", count + 4096}, {"Leaf", count + 4096}}, options),
                 world_options(options)),
          table_(count, 0)
    {
        world_.parallel_new("Node", count / 2, "Node_begin", table_.buffer(), cl_uint{0});
        world_.parallel_new("Leaf", count - count / 2, "Leaf_begin", table_.buffer(), count / 2);
    }
    static constexpr std::uint32_t none = ~0u;

    bool is_node(std::uint32_t object) const { return object < count_ / 2; }
    kma::World &world() { return world_; }

    void link(const std::vector<std::uint32_t> &edges)
    {
        const Array<cl_uint> all(edges);
        world_.parallel_do("Node", "Node_link", table_.buffer(), all.buffer());
        world_.parallel_do("Leaf", "Leaf_link", table_.buffer(), all.buffer());
    }
    // Collects with these objects as roots; compares with what they reach.
    kma::WorldCollection collect(const std::vector<std::uint32_t> &edges,
                                 const std::vector<std::uint32_t> &roots,
                                 std::uint64_t queue_bytes = 0)
    {
        const std::vector<cl_uint> refs = table_.read();
        std::vector<cl_uint> leading{0};
        for (const std::uint32_t root : roots)
            leading.push_back(refs[root]);
        const Array<cl_uint> buffer(leading);
        const kma::WorldRoot root = world_.root(buffer.buffer(), "Thing");
        const kma::WorldCollection result = world_.collect(queue_bytes);
        std::vector<bool> living(count_);
        std::vector<std::uint32_t> left = roots;
        std::uint64_t survivors = 0;
        while (!left.empty()) {
            const std::uint32_t object = left.back();
            left.pop_back();
            if (object == none || living[object])
                continue;
            living[object] = true;
            survivors++;
            left.insert(left.end(), edges.begin() + references * object,
                        edges.begin() + references * (object + 1));
        }
        CHECK(result.kept == survivors);
        const kma::WorldSnapshot all = world_.snapshot("Thing", {"number"});
        CHECK(all.size() == survivors);
        for (const cl_uint number : all.column<cl_uint>("number"))
            REQUIRE(living.at(number));
        CHECK(world_.check(true).empty());
        CHECK(world_.error_text().empty());
        return result;
    }

private:
    static kma::WorldOptions world_options(const std::string &options)
    {
        kma::WorldOptions made;
        made.program.options = options;
        made.work_group = 64;
        return made;
    }
    static kma::Schema schema()
    {
        const kma::DoAllOptions own{std::vector<std::string>{}, std::vector<std::string>{}, false};
        kma::Schema schema;
        schema.add_abstract("Thing", {"uint number", "Thing any"})
            .add("Node", {"Node next", "Node others[2]"}, "Thing")
            .add("Leaf", {"ushort tags[3]", "atomic Node next", "Leaf others[2]"}, "Thing");
        for (const char *cls : {"Node", "Leaf"}) {
            const std::string name = cls;
            schema.parallel_new(cls, name + "_begin", "global uint *table, uint first");
            schema.do_all(cls, name + "_link", "global const uint *table, global const uint *edges",
                          own);
        }
        return schema;
    }
    static constexpr const char *text = R"(
#define FUNCTIONS(T)                                                                                   \
    static inline void T##_begin(global kma_world *w, uint self, uint index, global uint *table,       \
                                 uint first)                                                           \
    {                                                                                                  \
        Thing_number(w, self) = first + index;                                                         \
        table[first + index] = self;                                                                   \
        T##_link(w, self, table, 0);                                                                   \
    }
#define LINK(T)                                                                                        \
    static inline void T##_link(global kma_world *w, uint self, global const uint *table,              \
                                global const uint *edges)                                              \
    {                                                                                                  \
        const uint number = Thing_number(w, self);                                                     \
        uint to[4] = {0, 0, 0, 0};                                                                     \
        for (uint i = 0; edges && i < 4; i++)                                                          \
            to[i] = edges[4 * number + i] == ~0u ? 0 : table[edges[4 * number + i]];                   \
        *(global uint *)T##_any_at(w, self) = to[0];                                                   \
        *(global uint *)T##_next_at(w, self) = to[1];                                                  \
        *(global uint *)T##_others_at(w, self, 0) = to[2];                                             \
        *(global uint *)T##_others_at(w, self, 1) = to[3];                                             \
    }
LINK(Node)
LINK(Leaf)
FUNCTIONS(Node)
FUNCTIONS(Leaf)
)";

    std::uint32_t count_;
    kma::World world_;
    Array<cl_uint> table_;
};

// A reference by chance, one of `density` of eight, of number i of an object.
std::uint32_t random_edge(const Web &web, std::mt19937 &random, std::uint32_t count,
                          std::uint32_t object, std::uint32_t i, std::uint32_t density)
{
    const std::uint32_t to = random() % count;
    const bool fits =
        i == 0 || (i == 1 && web.is_node(to)) || (i > 1 && web.is_node(to) == web.is_node(object));
    return fits && random() % 8 < density ? to : Web::none;
}

void random_webs(const Flavour &flavour, std::size_t webs, std::uint32_t most,
                 std::uint64_t queue_bytes)
{
    std::mt19937 random(7);
    for (std::size_t n = 0; n < webs; n++) {
        const std::uint32_t count = 2 + random() % most, density = 1 + random() % 8;
        INFO(flavour.name << ", web " << n << " of " << count);
        Web web(flavour.options, count);
        std::vector<std::uint32_t> edges, roots;
        for (std::uint32_t object = 0; object < count; object++) {
            for (std::uint32_t i = 0; i < references; i++)
                edges.push_back(random_edge(web, random, count, object, i, density));
            if (random() % 50 == 0)
                roots.push_back(object);
        }
        web.link(edges);
        web.collect(edges, roots, queue_bytes);
        web.collect(edges, {}, queue_bytes);
    }
}

} // namespace

TEST_CASE("of random worlds exactly what roots reach survives", "[world_collect]")
{
    for (const Flavour &flavour : widths())
        random_webs(flavour, scaled(4, 2), 2000, 0);
}

TEST_CASE("a small world is collected", "[world_collect]")
{
    random_webs(flavours().front(), 1, 300, 0);
}

TEST_CASE("queues of worlds with hardly any room drop objects, and all are marked",
          "[world_collect]")
{
    Web web(flavours().front().options + " -DKMA_REACH_STEPS=2u", 3000);
    std::vector<std::uint32_t> edges(references * 3000, Web::none);
    for (std::uint32_t i = 0; i < 1000; i++) // a tree of nodes, each leading to a leaf
        for (std::uint32_t r = 0; r < 2; r++) {
            edges[references * i + 2 + r] = 2 * i + 1 + r < 1000 ? 2 * i + 1 + r : Web::none;
            edges[references * i] = 1500 + i;
        }
    web.link(edges);
    CHECK(web.collect(edges, {0}, 40).repeats > 0);
}

TEST_CASE("a long list of objects is followed", "[world_collect]")
{
    constexpr std::uint32_t count = 40000;
    Web web(flavours().front().options, count);
    std::vector<std::uint32_t> edges(references * count, Web::none);
    for (std::uint32_t i = 0; i + 1 < count / 2; i++)
        edges[references * i + 1] = i + 1;
    web.link(edges);
    const kma::WorldCollection result = web.collect(edges, {count / 4});
    CHECK(result.kept == count / 4);
    CHECK(result.deleted == count - count / 4);
    CHECK(result.rounds <= count / 4 / 64 + 32);
}

TEST_CASE("a reference to no object ends a collection of a world", "[world_collect]")
{
    Web web(flavours().front().options, 100);
    std::vector<std::uint32_t> edges(references * 100, Web::none);
    web.link(edges);
    const Array<cl_uint> root(1, cl_uint{12345});
    const kma::WorldRoot said = web.world().root(root.buffer(), "Node");
    CHECK_THROWS_WITH(web.world().collect(),
                      contains("nothing was deleted: references that lead to no object"));
    CHECK(web.world().count("Thing") == 100);
}
