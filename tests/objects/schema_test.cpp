// What a schema makes of its declarations: sizes, places, numbers of classes, and the text.
#include "catch.hpp"
#include "kma/kma.hpp"

namespace {

const kma::Schema::Column &column(const kma::Schema::Concrete &cls, const std::string &name)
{
    for (const kma::Schema::Column &one : cls.columns)
        if (one.name == name)
            return one;
    throw std::logic_error("no column " + name);
}

} // namespace

TEST_CASE("a block has 64 of the smallest class, or one of the largest", "[schema]")
{
    kma::Schema schema;
    schema.add("Small", {"uint a"});
    schema.add("Middle", {"ulong a", "uint b"});
    kma::Schema::Layout layout = schema.layout();
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
}

TEST_CASE("an object has room for a reference, whatever its fields are", "[schema]")
{
    kma::Schema schema;
    schema.add("Tiny", {"uchar a"}).add("Empty", {});
    CHECK(schema.layout().block_bytes == 256);
    CHECK(schema.layout().classes[0].bytes == 4);
    CHECK(schema.layout().classes[1].objects == 64);
}

TEST_CASE("fields come base first, then by falling alignment, and do not overlap", "[schema]")
{
    kma::Schema schema;
    schema.add_abstract("Base", {"uchar a", "ulong b"});
    schema.add("Derived", {"uchar c", "ushort3 d", "float e[5]", "Derived next"}, "Base");
    const kma::Schema::Concrete cls = schema.layout().classes[0];
    std::vector<std::string> names;
    std::uint64_t end = 0;
    for (const kma::Schema::Column &one : cls.columns) {
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
    kma::Schema schema;
    schema.add("A", {"uint a"}).add("B", {"uint b"}).add("A1", {}, "A").add_abstract("A2", {}, "A").add("B1", {}, "B").add("A21", {}, "A2").add("A11", {}, "A1");
    std::vector<std::string> names;
    for (const kma::Schema::Concrete &cls : schema.layout().classes)
        names.push_back(cls.name);
    CHECK(names == std::vector<std::string>{"A", "A1", "A11", "A21", "B", "B1"});
    const auto range = [&](const char *cls) { return std::pair(schema.range(cls).first, schema.range(cls).last); };
    CHECK(range("A") == std::pair(0u, 3u));
    CHECK(range("A1") == std::pair(1u, 2u));
    CHECK(range("A2") == std::pair(3u, 3u));
    CHECK(range("B") == std::pair(4u, 5u));
    schema.add_abstract("None", {});
    CHECK(schema.range("None").first > schema.range("None").last);
}

TEST_CASE("the text has what was declared", "[schema]")
{
    kma::Schema schema;
    schema.add_abstract("Agent", {"uint cell"}).add("Fish", {"kma_atomic_u32 hits"}, "Agent").add("Shark", {"Fish prey", "float path[4]"}, "Agent");
    schema.do_all("Agent", "go", "global const float *x, uint step").parallel_new("Fish", "fish_init");
    const std::string text = schema.accessors(), kernels = schema.kernels();
    const auto has = [](const std::string &in, const std::string &what) { return in.find(what) != std::string::npos; };
    CHECK(has(text, "static inline Fish Fish_new(global kma_world *w)"));
    CHECK(!has(text, "Agent_new("));
    CHECK(has(text, "#define Agent_cell(w, self) (*Agent_cell_at(w, self))"));
    CHECK(has(text, "static inline global kma_atomic_u32 *Fish_hits_at(global kma_world *w, Fish self)"));
    CHECK(!has(text, "#define Fish_hits("));
    CHECK(has(text, "#define Shark_path(w, self, i) (*Shark_path_at(w, self, i))"));
    CHECK(has(text, "static inline global Fish *Shark_prey_at(global kma_world *w, Shark self)"));
    CHECK(has(text, "static inline Shark Shark_as(global kma_world *w, uint ref)"));
    CHECK(has(kernels, "kernel void kma_do_Agent_go(global kma_world *kma_w, global const float *x, uint step)"));
    CHECK(has(kernels, "go(kma_w, kma_self, x, step);"));
    CHECK(has(kernels, "kernel void kma_new_Fish_fish_init(global kma_world *kma_w, uint kma_n)"));
}
