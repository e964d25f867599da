// Schemas and worlds: what the host refuses, what kernels do wrong with objects, and what World::check() finds.
#include "heap_support.hpp"
#include "heap/common/layout.hpp"
#include "provocations.hpp"
#include "objects/world_references.hpp"
#include "objects/world_states.hpp"

namespace messages {
namespace {

using kma::Schema;
using kma::World;
using test::device;

const std::vector<std::string> nothing;

// One program for all, so that its kernels are compiled once.
Schema schema()
{
    Schema schema;
    schema.add_abstract("Thing", {"uint number"});
    schema.add("Small", {}, "Thing").add("Large", {"uint words[40]"}, "Thing"); // of Large one object in a block
    schema.parallel_new("Small", "small_init", "uint number").parallel_new("Large", "large_init");
    schema.do_all("Small", "hide", "uint number", {nothing, nothing});
    return schema;
}

const char *const kernels = R"(
static inline void small_init(global kma_world *w, Small self, uint i, uint number) { Small_number(w, self) = number + i; }
static inline void large_init(global kma_world *w, Large self, uint i) { Large_number(w, self) = i; }

// Creates, and does not say so.
static inline void hide(global kma_world *w, Small self, uint number)
{
    const Large large = Large_new(w);
    if (large != 0)
        Large_number(w, large) = number;
}

kernel void delete_wrong(global kma_world *w, uint is_twice)
{
    if (get_global_id(0) != 0)
        return;
    const Large large = Large_new(w);
    for (uint i = 0; i < is_twice + 1; i++)
        if (is_twice != 0)
            Large_delete(w, large);
        else
            Small_delete(w, large);
}
)";

// Bytes of a world of so many blocks.
std::uint64_t bytes_of(std::uint64_t blocks)
{
    return World::bytes_for(device(), schema(), {{"Large", blocks - 1}}); // one block for each, and one
}

World world(std::uint64_t bytes)
{
    kma::WorldOptions options;
    options.work_group = 64;
    options.program.debug = 1; // so that it looks who changes what
    return World(device(), schema(), {{"things.cl", kernels}}, bytes, options);
}

World world()
{
    return world(bytes_of(100));
}

// The first count of a world's error log, without the number.
std::string first_error(const World &world)
{
    const std::string errors = world.error_text();
    const std::size_t begin = errors.find(" x ");
    return begin == std::string::npos ? "(no error)" : errors.substr(begin + 3, errors.find('\n') - begin - 3);
}

// A world with some objects, and what tells of its blocks, for who writes over that.
class Damaged {
public:
    Damaged() : world_(world())
    {
        world_.parallel_new("Small", 100, "small_init", cl_uint{0});
        world_.parallel_new("Large", 3, "large_init");
        plan_ = kma::layout::kma_world_plan_of(2, world_.layout().block_bytes, world_.blocks());
        blocks_.resize(world_.blocks());
        device().queue().enqueueReadBuffer(world_.buffer(), CL_TRUE, plan_.states, sizeof blocks_[0] * blocks_.size(), blocks_.data());
        slots_ = world_.layout().classes[0].objects;
    }

    /// A state without room.
    std::uint64_t all() const { return slots_ == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << slots_) - 1; }
    /// The blocks of a type, 0, or 1 + the number of a class.
    std::vector<std::uint32_t> blocks(std::uint32_t type) const
    {
        std::vector<std::uint32_t> found;
        for (std::uint32_t block = 0; block < blocks_.size(); block++)
            if (blocks_[block].type.word == type)
                found.push_back(block);
        return found;
    }
    void set_state(std::uint32_t block, std::uint64_t state) const
    {
        write(plan_.states + sizeof blocks_[0] * block + offsetof(kma::layout::kma_world_block, state), state);
    }
    void set_type(std::uint32_t block, std::uint32_t type) const
    {
        write(plan_.states + sizeof blocks_[0] * block + offsetof(kma::layout::kma_world_block, type), type);
    }
    /// A word of the tree of free blocks.
    void set_free(std::uint32_t level, std::uint32_t word, std::uint32_t bits) const
    {
        write(plan_.trees + sizeof bits * (kma::layout::kma_bit_tree_base(world_.blocks(), level) + word), bits);
    }
    void set_mark(std::uint32_t mark) const { write(offsetof(kma::layout::kma_heap_header, magic), mark); }
    World &operator*() { return world_; }

private:
    template <class T> void write(std::uint64_t at, T value) const
    {
        device().queue().enqueueWriteBuffer(world_.buffer(), CL_TRUE, at, sizeof value, &value);
    }

    World world_;
    kma::layout::kma_world_plan plan_{};
    std::vector<kma::layout::kma_world_block> blocks_;
    std::uint32_t slots_ = 0;
};

template <class Act> Provocation damaged(const std::string &what, Act act)
{
    return {what, [=] {
                Damaged damaged;
                act(damaged);
                return (*damaged).check();
            }};
}

void add_schemas(std::vector<Provocation> &all)
{
    all.insert(
        all.end(),
        {thrown("names a class as a type", [] { Schema().add("float", {}); }),
         thrown("declares a class twice", [] { schema().add("Small", {}); }),
         thrown("declares a class in front of its base", [] { schema().add("Fish", {}, "Agent"); }),
         thrown("declares 65 classes",
                [] {
                    Schema schema;
                    for (int i = 0; i < 65; i++)
                        schema.add("Class_" + std::to_string(i), {});
                }),
         thrown("declares a field that the base has", [] { schema().add("Other", {"float number"}, "Small"); }),
         thrown("declares a field without a type", [] { Schema().add("Fish", {"age"}); }),
         thrown("declares a pointer as a field", [] { Schema().add("Fish", {"global float *path"}); }),
         thrown("declares a field of a type that there is not",
                [] {
                    Schema schema;
                    schema.add("Fish", {"Agent prey"});
                    schema.accessors();
                }),
         thrown("declares an atomic number",
                [] {
                    Schema schema;
                    schema.add("Fish", {"atomic uint age"});
                    schema.accessors();
                }),
         thrown("declares a field whose name another thing has",
                [] {
                    Schema schema;
                    schema.add("Fish", {"uint new"});
                    schema.accessors();
                }),
         thrown("declares an array of 64 MB",
                [] {
                    Schema schema;
                    schema.add("Fish", {"float16 path[999999]"});
                    schema.accessors();
                }),
         thrown("declares abstract classes only",
                [] {
                    Schema schema;
                    schema.add_abstract("Agent", {});
                    schema.accessors();
                }),
         thrown("asks for blocks of 17 MB", [] { Schema().block_bytes((1 << 24) + 1); }),
         thrown("creates objects of an abstract class", [] { schema().parallel_new("Thing", "init"); }),
         thrown("visits an abstract class without subclasses", [] { schema().do_all("Thing", "visit", "", {nothing, nothing, false}); }),
         thrown("gives a function with its parameters", [] { schema().do_all("Small", "visit(uint step)"); }),
         thrown("gives a parameter without a name", [] { schema().do_all("Small", "visit", "uint"); }),
         thrown("declares a do-all twice", [] { schema().do_all("Small", "hide"); }),
         thrown("declares a do-all over a class that there is not", [] { schema().do_all("Smal", "visit"); })});
}

void add_worlds(std::vector<Provocation> &all)
{
    all.insert(
        all.end(),
        {thrown("makes a world of 1,000 bytes", [] { world(1000); }),
         thrown("makes a world larger than a buffer", [] { kma::refuse_world_if_full(CL_INVALID_BUFFER_SIZE, 1 << 30, 1 << 20, "Some platform / Some device"); }),
         thrown("makes a world when the device's memory is full",
                [] { kma::refuse_world_if_full(CL_MEM_OBJECT_ALLOCATION_FAILURE, 1 << 30, 1 << 30, "Some platform / Some device"); }),
         thrown("defragments when the device's memory is full", [] { kma::refuse_defragmentation(1 << 20, CL_MEM_OBJECT_ALLOCATION_FAILURE); }),
         thrown("defragments to less than nothing", [] { world().defragment("Small", {.fragmentation = -0.1}); }),
         thrown("defragments when nothing is empty", [] { world().defragment_when(0); }),
         thrown("says that a buffer has references behind its end",
                [] {
                    World own = world();
                    const kma::WorldRoot root = own.root(own.buffer(), "Small", 0, 1ull << 40);
                }),
         thrown("asks how much 2^40 objects need",
                [] {
                    World::bytes_for(device(), schema(), {{"Large", 1ull << 40}});
                }),
         thrown("creates a negative number of objects",
                [] {
                    const int count = -1;
                    world().parallel_new("Large", static_cast<cl_uint>(count), "large_init");
                }),
         thrown("calls a do-all that was not declared", [] { world().parallel_do("Large", "hide", cl_uint{0}); }),
         thrown("forgets an argument of a do-all", [] { world().parallel_do("Small", "hide"); }),
         thrown("gives an argument of another type to a do-all", [] { world().parallel_do("Small", "hide", cl_ulong{0}); }),
         thrown("gives an argument too many to a kernel", [] { world().run("delete_wrong", 64, {}, cl_uint{0}, cl_uint{0}); }),
         thrown("does not say what a do-all creates",
                [] {
                    World own = world();
                    own.parallel_new("Small", 1, "small_init", cl_uint{0});
                    own.parallel_do("Small", "hide", cl_uint{0});
                }),
         thrown("collects a world with a root that leads to no object",
                [] {
                    World own = world();
                    cl_uint wrong = 12345;
                    const cl::Buffer buffer(device().context(), CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, sizeof wrong, &wrong);
                    const kma::WorldRoot root = own.root(buffer, "Small");
                    own.collect();
                }),
         thrown("copies a field that a class has not", [] { world().snapshot("Thing", {"words"}); }),
         thrown("reads a field that was not copied", [] { world().snapshot("Large", {"words"}).column<cl_uint>("number"); }),
         thrown("reads a field as another type", [] { world().snapshot("Large").column<cl_ulong>("number"); })});
}

} // namespace

std::vector<Provocation> object_provocations()
{
    std::vector<Provocation> all;
    add_schemas(all);
    add_worlds(all);
    return all;
}

std::vector<Provocation> object_kernel_provocations()
{
    return {
        {"creates more objects than there is room for",
         [] {
             World full = world(bytes_of(1));
             full.parallel_new("Small", 65, "small_init", cl_uint{0});
             return std::vector{first_error(full)};
         }},
        {"deletes an object as one of another class",
         [] {
             World own = world();
             own.run("delete_wrong", 1, {}, cl_uint{0});
             return std::vector{first_error(own)};
         }},
        {"deletes an object twice",
         [] {
             World own = world();
             own.run("delete_wrong", 1, {}, cl_uint{1});
             return std::vector{first_error(own)};
         }},
        {"writes over the states of free blocks",
         [] {
             Damaged damaged;
             for (const std::uint32_t block : damaged.blocks(0))
                 damaged.set_state(block, 5);
             (*damaged).parallel_new("Large", 1, "large_init");
             return std::vector{first_error(*damaged)};
         }},
    };
}

// Of a world whose objects refer to nothing there is.
std::vector<std::string> check_dangling()
{
    Schema schema;
    schema.add("Holder", {"Holder friends[20]"}).parallel_new("Holder", "holder_init");
    World own(device(), schema, {{"holder.cl", R"(
static inline void holder_init(global kma_world *w, Holder self, uint i)
{
    for (uint k = 0; k < 20; k++)
        Holder_friends(w, self, k) = k == 0 ? self : self + 1;
})"}}, 1 << 20);
    own.parallel_new("Holder", 1, "holder_init");
    const cl_uint wrong = 77;
    const cl::Buffer buffer(device().context(), CL_MEM_COPY_HOST_PTR, sizeof wrong, const_cast<cl_uint *>(&wrong));
    const kma::WorldRoot root = own.root(buffer, "Holder");
    return own.check(true);
}

std::vector<Provocation> world_check_provocations()
{
    return {
        {"keeps references to objects that are gone", check_dangling},
        damaged("writes over a world's mark", [](Damaged &damaged) { damaged.set_mark(1); }),
        damaged("writes over a block's type", [](Damaged &damaged) { damaged.set_type(damaged.blocks(2).front(), 77); }),
        damaged("writes over the tree of free blocks",
                [](Damaged &damaged) {
                    for (const std::uint32_t block : damaged.blocks(0))
                        damaged.set_free(0, block / 32, 0);
                }),
        damaged("puts blocks of objects among the free ones",
                [](Damaged &damaged) {
                    for (const std::uint32_t block : damaged.blocks(1))
                        damaged.set_free(0, block / 32, ~0u);
                }),
        damaged("writes over the root of the tree of free blocks", [](Damaged &damaged) { damaged.set_free(1, 0, 0); }),
        damaged("writes over the state of a free block", [](Damaged &damaged) { damaged.set_state(damaged.blocks(0).front(), 5); }),
        damaged("makes slots free that there are not", [](Damaged &damaged) { damaged.set_state(damaged.blocks(2).front(), 1); }),
        damaged("makes the only slot of a block free",
                [](Damaged &damaged) { damaged.set_state(damaged.blocks(2).front(), damaged.all() & ~std::uint64_t{1}); }),
        damaged("writes over the states of many free blocks",
                [](Damaged &damaged) {
                    for (const std::uint32_t block : damaged.blocks(0))
                        damaged.set_state(block, 5);
                }),
    };
}

} // namespace messages
