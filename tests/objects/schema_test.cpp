// What a schema makes of its declarations: sizes, places, numbers of classes, the text, and the
// program that a world builds of it.
#include <algorithm>

#include "own_names.hpp"
#include "worlds.hpp"

using namespace worlds;
using kma::Schema;

namespace {

const Schema::Column &column(const Schema::Concrete &cls, const std::string &name)
{
    const auto found = std::ranges::find(cls.columns, name, &Schema::Column::name);
    REQUIRE(found != cls.columns.end());
    return *found;
}

} // namespace

TEST_CASE("a block has 64 of the smallest class, or one of the largest", "[schema]")
{
    Schema schema;
    schema.add("Small", {"uint a"});
    schema.add("Middle", {"ulong a", "uint b"});
    Schema::Layout layout = schema.layout();
    CHECK(layout.block_bytes == 256);
    CHECK(layout.classes[0].objects == 64);
    CHECK(layout.classes[1].objects == 21); // of 12 bytes each
    CHECK(schema.layout(32).block_bytes == 128);
    CHECK(schema.layout(32).classes[1].objects == 10);
    schema.add("Large", {"float16 a[100]"});
    layout = schema.layout();
    CHECK(layout.block_bytes == 6400);
    CHECK(layout.classes[1].objects == 64);
    CHECK(layout.classes[2].objects == 1);
    schema.block_bytes(10000);
    CHECK(schema.layout().block_bytes == 10112); // whole 128
    CHECK(schema.layout().classes[2].objects == 1);
    Schema tiny; // an object has space for a reference, whatever its fields are
    tiny.add("Tiny", {"uchar a"}).add("Empty", {});
    CHECK(tiny.layout().block_bytes == 256);
    CHECK(tiny.layout().classes[0].bytes == 4);
    CHECK(tiny.layout().classes[1].objects == 64);
}

TEST_CASE("fields come base first, then by falling alignment, and do not overlap", "[schema]")
{
    Schema schema;
    schema.add_abstract("Base", {"uchar a", "ulong b"});
    schema.add("Derived", {"uchar c", "ushort3 d", "float e[5]", "Derived next"}, "Base");
    const Schema::Concrete cls = schema.layout().classes[0];
    std::vector<std::string> names;
    std::uint64_t end = 0;
    for (const Schema::Column &one : cls.columns) {
        names.push_back(one.name);
        CHECK(one.begin >= end);
        CHECK(one.begin % one.align == 0);
        end = one.begin + std::uint64_t{one.bytes} * one.elements * cls.objects;
    }
    CHECK(names == std::vector<std::string>{"b", "a", "d", "e", "next", "c"});
    CHECK(end <= schema.layout().block_bytes);
    CHECK(column(cls, "d").bytes == 8);
    CHECK(column(cls, "next").target == "Derived");
    CHECK(column(cls, "e").elements == 5);
    CHECK(cls.bytes == 8 + 1 + 8 + 20 + 4 + 1);
}

TEST_CASE("a class and its subclasses have numbers side by side", "[schema]")
{
    Schema schema;
    schema.add("A", {"uint a"}).add("B", {"uint b"}).add("A1", {}, "A");
    schema.add_abstract("A2", {}, "A").add("B1", {}, "B").add("A21", {}, "A2").add("A11", {}, "A1");
    std::vector<std::string> names;
    for (const Schema::Concrete &cls : schema.layout().classes)
        names.push_back(cls.name);
    CHECK(names == std::vector<std::string>{"A", "A1", "A11", "A21", "B", "B1"});
    struct Case {
        const char *cls;
        std::uint32_t first, last;
    };
    for (const Case &one : {Case{"A", 0, 3}, {"A1", 1, 2}, {"A2", 3, 3}, {"B", 4, 5}}) {
        CHECK(schema.range(one.cls).first == one.first);
        CHECK(schema.range(one.cls).last == one.last);
    }
    schema.add_abstract("None", {});
    CHECK(schema.range("None").first > schema.range("None").last);
}

TEST_CASE("the text has what was declared", "[schema]")
{
    Schema schema;
    schema.add_abstract("Agent", {"uint cell"}).add("Fish", {"kma_atomic_u32 hits"}, "Agent");
    schema.add("Shark", {"Fish prey", "float path[4]"}, "Agent");
    schema.do_all("Agent", "go").parallel_new("Fish", "fish_init");
    schema.read_heads({{"x.cl", R"(
static inline void go(global kma_world *w, Agent self, global const float *x, uint step) {}
static inline void fish_init(global kma_world *w, Fish self, uint index) {})"}});
    const std::string text = schema.accessors(), kernels = schema.kernels();
    for (const char *part : {"kma_atomic_u32 *\nFish_hits_at(global kma_world *w, Fish self)",
                             "global Fish *\nShark_prey_at(global kma_world *w, Shark self)"})
        CHECK_THAT(text, contains(part));
    for (const char *part : {"Agent_new(", "#define Fish_hits("})
        CHECK_THAT(text, !contains(part));
    for (const char *part :
         {"kernel void kma_do_Agent_go(global kma_world *kma_w, global const float *x, uint step)",
          "go(kma_w, kma_self, x, step);",
          "kernel void kma_new_Fish_fish_init(global kma_world *kma_w, uint kma_n)"})
        CHECK_THAT(kernels, contains(part));
}

// Behind the units come kernels that the library writes, and in front of them what the options
// define.
TEST_CASE("a world's program may have macros of any name of kma's", "[world]")
{
    kma::Schema schema;
    schema.add("Body", {"float X", "float Y[3]"}).add("Star", {}, "Body");
    schema.parallel_new("Body", "MAKE").do_all("Body", "MOVE");
    std::set<std::string> names = own_names();
    names.insert("T");
    const std::string unit = R"(
static inline void MAKE(global kma_world *W, Body B, uint I) { Body_X(W, B) = I; Body_Y(W, B, 2) = 1; }
static inline void MOVE(global kma_world *W, Body B, float BY)
{
    Body_for_each(W, O) { Body_X(W, B) += BY * Body_Y(W, O, 2); }
    Body_for_each_run(W, R) { Body_Y(W, B, 0) = 1; }
    if (Star_is(W, B) || Star_as(W, B) != 0)
        Body_delete(W, B);
}
)";
    kma::World w(device(), schema, {{"body.cl", "#undef T\n" + macros_of(names) + unit}}, 1 << 20,
                 world_options("-Dself=1 -Dn=2 -Dkey=3 -Dsize=4 -DT=float"));
    w.parallel_new("Body", 10, "MAKE");
    w.parallel_do("Body", "MOVE", 1.0f);
    std::vector<float> xs = w.snapshot("Body").column<float>("X");
    std::ranges::sort(xs);
    CHECK(xs == std::vector<float>{10, 11, 12, 13, 14, 15, 16, 17, 18, 19});
    CHECK(w.error_text() == "");
}

TEST_CASE("parameters are read from the functions' heads, whatever stands around them", "[world]")
{
    const auto made = [](const std::string &text) {
        kma::Schema schema;
        schema.add("Dot", {"uint value"}).parallel_new("Dot", "dot_make").do_all("Dot", "dot_add");
        return kma::World(device(), schema, {{"dots.cl", text}}, 1 << 20);
    };
    kma::World world = made(R"(
// void dot_add(kma_world *w, Dot self, uint by)
/* dot_add(1) { */ constant char said[] = "dot_add(\"2\") {";
static inline uint dot_add_more(uint a) { return a; }
static inline void dot_make(global kma_world *w, Dot self, uint index, uint first) {
    Dot_value(w, self) = first + index;
}
static inline void
dot_add(global kma_world *w, Dot self, /* to the second */
        uint by, global uint const *some, float4 unused)
{
    Dot_value(w, self) += dot_add_more(by) + some[0];
})");
    cl::Event made_event, added_event;
    const Array<cl_uint> some(1, 7);
    cl::UserEvent gate(device().context());
    const std::vector<cl::Event> wait{gate};
    world.parallel_new({.events = &wait, .event = &made_event}, "Dot", 5, "dot_make", cl_uint{10});
    const std::vector<cl::Event> made_events{made_event};
    world.parallel_do({.events = &made_events, .event = &added_event}, "Dot", "dot_add",
                      cl_uint{100}, some.buffer(), cl_float4{});
    device().queue().flush();
    const auto is_made = [&] {
        return made_event.getInfo<CL_EVENT_COMMAND_EXECUTION_STATUS>() == CL_COMPLETE;
    };
    CHECK(!is_made()); // it waits for the gate
    gate.setStatus(CL_COMPLETE);
    added_event.wait();
    CHECK(is_made());
    std::vector<cl_uint> values = world.snapshot("Dot").column<cl_uint>("value");
    std::ranges::sort(values);
    CHECK(values == std::vector<cl_uint>{117, 118, 119, 120, 121});
    const auto refuses = [&](const std::string &text, const std::string &why) {
        const std::string make =
            "static inline void dot_make(global kma_world *w, Dot self, uint index) {}\n";
        CHECK_THROWS_WITH(made(make + text), contains(why));
    };
    refuses("static inline void dot_ad(global kma_world *w, Dot self) {}", "no function dot_add");
    refuses("static inline void dot_add(global kma_world *w) {}", "dot_add has 1 parameters");
    refuses("static inline void dot_add(global kma_world *w, Dot self, uint) {}", "has no name");
}
