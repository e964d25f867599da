// Types, collectors, schemas and worlds: refused calls, errors of kernels, and the findings of
// World::check().
#include "catalogue.hpp"
#include "catch.hpp"
#include "heap/common/layout.hpp"
#include "heap_support.hpp"
#include "objects/world_references.hpp"
#include "objects/world_states.hpp"

namespace {

using namespace kma;
using namespace kma::layout;
using namespace messages;
using Block = kma_world_block;
using test::device;

Types node()
{
    return Types().add("Node", {"uint key", "Node *next"});
}

struct Collected {
    Heap heap{device(), 1 << 20};
    Collector collector{heap, node()};
    Damage damage{heap.buffer()};
};

// One program for all tests: its kernels are compiled once.
Schema things()
{
    const std::vector<std::string> none;
    return Schema()
        .add_abstract("Thing", {"uint number"})
        .add("Small", {}, "Thing")
        .add("Large", {"uint words[40]"}, "Thing") // one in a block
        .parallel_new("Small", "small_init")
        .parallel_new("Large", "large_init")
        .do_all("Small", "hide", {none, none});
}

const char *const kernels = R"(
static inline void small_init(global kma_world *w, Small self, uint i, uint number)
{
    Small_number(w, self) = number + i;
}
static inline void large_init(global kma_world *w, Large self, uint i)
{
    Large_number(w, self) = i;
}
// Creates an object that its declaration does not name.
static inline void hide(global kma_world *w, Small self, uint number)
{
    Large_new(w);
}
kernel void delete_wrong(global kma_world *w, uint is_twice)
{
    const Large large = Large_new(w);
    if (is_twice == 0) {
        Small_delete(w, large);
    } else {
        Large_delete(w, large);
        Large_delete(w, large);
    }
}
)";

// Of a world for so many objects of Large, and a block for each class.
cl_ulong bytes_of(cl_ulong objects)
{
    return World::bytes_for(device(), things(), {{"Large", objects}});
}

World world(cl_ulong bytes = bytes_of(99))
{
    WorldOptions options;
    options.work_group = 64;
    options.program.debug = 1; // finds objects that a do-all does not declare
    return World(device(), things(), {{"things.cl", kernels}}, bytes, options);
}

cl::Buffer buffer_with(cl_uint ref, cl_mem_flags access = CL_MEM_READ_WRITE)
{
    return {device().context(), access | CL_MEM_COPY_HOST_PTR, sizeof ref, &ref};
}

constexpr std::size_t state = offsetof(Block, state), type = offsetof(Block, type);

// A world with 100 Small and 3 Large, and the places of its blocks' metadata.
struct Populated {
    Populated()
    {
        world.parallel_new("Small", 100, "small_init", cl_uint{0});
        world.parallel_new("Large", 3, "large_init");
        states.resize(world.blocks());
        device().queue().enqueueReadBuffer(world.buffer(), CL_TRUE, plan.states,
                                           sizeof(Block) * states.size(), states.data());
    }

    // The blocks of a class, counted from 1, or the free ones, 0.
    std::vector<cl_uint> blocks(cl_uint of) const
    {
        std::vector<cl_uint> found;
        for (cl_uint block = 0; block < states.size(); block++)
            if (states[block].type.word == of)
                found.push_back(block);
        return found;
    }
    cl_ulong place(cl_uint block, std::size_t member) const
    {
        return plan.states + sizeof(Block) * block + member;
    }
    cl_ulong free_tree(cl_uint level, cl_uint word) const
    {
        return plan.trees + sizeof(cl_uint) * (kma_bit_tree_base(world.blocks(), level) + word);
    }

    World world = ::world();
    kma_world_plan plan = kma_world_plan_of(2, world.layout().block_bytes, world.blocks());
    std::vector<Block> states;
};

} // namespace

TEST_CASE("messages: types and collectors", "[messages]")
{
    Section section("Types and Collector");
    PROVOKE(Types().add("float", {"uint x"}));
    PROVOKE(node().add("Node", {"uint x"}));
    section.throws([] {
        Types types;
        for (int i = 0; i < 128; i++)
            types.add("Type_" + std::to_string(i), {"uint x"});
    });
    for (const std::vector<std::string> &fields : std::initializer_list<std::vector<std::string>>{
             {}, {"key"}, {"uint key", "float key"}, {"Pair pair"}, {"Other *other"}})
        PROVOKE(Types().add("Pair", fields).text());

    Heap heap(device(), 1 << 20), bump(device(), 1 << 20, {.kind = HeapKind::bump});
    PROVOKE(Collector(bump, node()));
    PROVOKE(Collector(heap, Types()));
    PROVOKE(Collector(heap, node(), {.region_bytes = 100}));
    PROVOKE(Collector(heap, node(), {.share = 0}));
    PROVOKE(Collector(heap, node()); Collector(heap, node().add("More", {"uint x"})));
    section.throws([] {
        HeapOptions options;
        options.max_bytes = 64 << 20;
        Heap full(device(), Heap::bytes_for(options, 1 << 20), options);
        Collector(full, node());
    });

    Collected its;
    PROVOKE(Collector(its.heap, node()));
    PROVOKE((void)its.collector.add_roots(
        cl::Buffer(cl::Context(device().device()), CL_MEM_READ_WRITE, 16), 4));
    PROVOKE((void)its.collector.add_roots(buffer_with(0), 2));
    PROVOKE(its.collector.unpin(1));
    section.throws([&] {
        const auto roots = its.collector.add_roots(buffer_with(0, CL_MEM_READ_ONLY), 1);
        its.collector.compact();
    });
    its.collector.pin(5); // which is no object
    PROVOKE(its.collector.collect());
    its.collector.unpin(5);
    section.throws([&] {
        cl_uint tables = 0;
        device().queue().enqueueReadBuffer(its.heap.buffer(), CL_TRUE, 48, sizeof tables, &tables);
        // The byte of the type table that tells of the collector's own first unit.
        its.damage.write(cl_ulong{tables + 1} * 16 + tables / 4 * 4, cl_uint{0x80808080});
        its.collector.collect();
    });
    its.damage.write(48, cl_uint{1}); // the header's ref of the tables
    PROVOKE(its.collector.collect());
    PROVOKE(Collected own; own.heap.reset(); own.collector.collect());
}

TEST_CASE("messages: schemas", "[messages]")
{
    Section section("Schema");
    PROVOKE(Schema().add("float", {}));
    PROVOKE(things().add("Small", {}));
    PROVOKE(things().add("Fish", {}, "Agent"));
    section.throws([] {
        Schema schema;
        for (int i = 0; i < 65; i++)
            schema.add("Class_" + std::to_string(i), {});
    });
    PROVOKE(things().add("Other", {"float number"}, "Small"));
    PROVOKE(Schema().block_bytes((1 << 24) + 1));
    PROVOKE(Schema().add_abstract("Agent", {}).accessors());
    for (const char *field : {"age", "global float *path", "Agent prey", "atomic uint age",
                              "uint new", "float16 path[999999]"})
        PROVOKE(Schema().add("Fish", {field}).accessors());
    PROVOKE(things().parallel_new("Thing", "init"));
    PROVOKE(things().do_all("Thing", "visit", {{}, {}, false}));
    PROVOKE(things().do_all("Small", "visit(uint step)"));
    PROVOKE(things().do_all("Small", "hide"));
    PROVOKE(things().do_all("Smal", "visit"));
    PROVOKE(world().parallel_do("Large", "hide", cl_uint{0}));
    for (const char *program : {"", "void visit(global kma_world *w) { }",
                                "void visit(global kma_world *w, Fish self, uint) { }"})
        PROVOKE(
            Schema().add("Fish", {}).do_all("Fish", "visit").read_heads({{"fish.cl", program}}));
}

TEST_CASE("messages: worlds", "[messages]")
{
    Section section("World");
    World its = world();
    PROVOKE(world(1000));
    PROVOKE(refuse_world_if_full(CL_INVALID_BUFFER_SIZE, 1 << 30, 1 << 20, some_device));
    PROVOKE(refuse_world_if_full(CL_MEM_OBJECT_ALLOCATION_FAILURE, 1 << 30, 1 << 30, some_device));
    PROVOKE(refuse_defragmentation(1 << 20, CL_MEM_OBJECT_ALLOCATION_FAILURE));
    PROVOKE(its.defragment("Small", {.fragmentation = -0.1}));
    PROVOKE(its.defragment_when(0));
    PROVOKE(const WorldRoot root = its.root(its.buffer(), "Small", 0, 1ull << 40));
    PROVOKE(World::bytes_for(device(), things(), {{"Large", 1ull << 40}}));
    PROVOKE(its.parallel_new("Large", static_cast<cl_uint>(-1), "large_init"));
    PROVOKE(its.parallel_do("Small", "hide"));
    PROVOKE(its.parallel_do("Small", "hide", cl_ulong{0}));
    PROVOKE(its.run("delete_wrong", 64, {}, cl_uint{0}, cl_uint{0}));
    PROVOKE(its.snapshot("Thing", {"words"}));
    PROVOKE(its.snapshot("Large", {"words"}).column<cl_uint>("number"));
    PROVOKE(its.snapshot("Large").column<cl_ulong>("number"));
    section.throws([&] {
        const cl::Buffer wrong = buffer_with(12345);
        const WorldRoot root = its.root(wrong, "Small");
        its.collect();
    });
    its.parallel_new("Small", 1, "small_init", cl_uint{0});
    PROVOKE(its.parallel_do("Small", "hide", cl_uint{0}));
}

TEST_CASE("messages: what kernels do wrong with objects", "[messages]")
{
    Section section("In worlds", true);
    World full = world(bytes_of(0));
    full.parallel_new("Small", 65, "small_init", cl_uint{0});
    section.says({full.error_text()});
    for (const cl_uint is_twice : {0, 1}) {
        World its = world();
        its.run("delete_wrong", 1, {}, is_twice);
        section.says({its.error_text()});
    }
    Populated damaged;
    Damage damage(damaged.world.buffer());
    for (const cl_uint block : damaged.blocks(0))
        damage.write(damaged.place(block, state), cl_ulong{5});
    damaged.world.parallel_new("Large", 1, "large_init");
    section.says({damaged.world.error_text()});
}

TEST_CASE("messages: World::check()", "[messages]")
{
    Section section("World::check()");
    Populated its;
    Damage damage(its.world.buffer(), [&] { return its.world.check(); });
    const cl_uint free = its.blocks(0).front(), large = its.blocks(2).front();
    const cl_ulong slots = its.world.layout().classes[0].objects;
    section.says(damage.write(offsetof(kma_heap_header, magic), cl_uint{1}).found());
    section.says(damage.write(its.place(large, type), cl_uint{77}).found());
    section.says(damage.write(its.free_tree(1, 0), cl_uint{0}).found());
    section.says(damage.write(its.place(free, state), cl_ulong{5}).found());
    section.says(damage.write(its.place(large, state), cl_ulong{1}).found());
    const cl_ulong all_but_one = (~cl_ulong{0} >> (64 - slots)) & ~cl_ulong{1};
    section.says(damage.write(its.place(large, state), all_but_one).found());
    for (const cl_uint block : its.blocks(0))
        damage.write(its.free_tree(0, block / 32), cl_uint{0});
    section.says(damage.found());
    for (const cl_uint block : its.blocks(1))
        damage.write(its.free_tree(0, block / 32), ~cl_uint{0});
    section.says(damage.found());
    for (const cl_uint block : its.blocks(0))
        damage.write(its.place(block, state), cl_ulong{5});
    section.says(damage.found());

    // References to no objects, of objects and in a root.
    Schema schema;
    schema.add("Holder", {"Holder friends[20]"}).parallel_new("Holder", "holder_init");
    World holders(device(), schema, {{"holder.cl", R"(
static inline void holder_init(global kma_world *w, Holder self, uint i)
{
    for (uint k = 0; k < 20; k++)
        Holder_friends(w, self, k) = k == 0 ? self : self + 1;
})"}},
                  1 << 20);
    holders.parallel_new("Holder", 1, "holder_init");
    const cl::Buffer wrong = buffer_with(77);
    const WorldRoot root = holders.root(wrong, "Holder");
    section.says(holders.check(true));
}
