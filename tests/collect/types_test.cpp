// kma::Types: what is declared is what the device compiles, and wrong declarations say why.
#include "catch.hpp"
#include "own_names.hpp"
#include "support.hpp"

using namespace test;

TEST_CASE("types are laid out as OpenCL C lays out structs", "[types]")
{
    kma::Types types;
    types.add("A", {"uchar a", "B *b", "ulong c", "uchar d"});
    types.add("B", {"float3 place", "atomic A *as[3]", "void *any", "ulong count"});
    types.add_element("Bytes", "uchar");
    types.add_element("As", "A *");
    const auto layout = types.layout();
    REQUIRE(layout.size() == 4);
    CHECK(layout[0].bytes == 24);
    REQUIRE(layout[0].references.size() == 1);
    CHECK(layout[0].references[0].offset == 4);
    CHECK(layout[0].references[0].target == 2);
    CHECK(layout[1].bytes == 48);
    REQUIRE(layout[1].references.size() == 4);
    CHECK(layout[1].references[2].offset == 24);
    CHECK(layout[1].references[2].target == 1);
    CHECK(layout[1].references[3].offset == 28);
    CHECK(layout[1].references[3].target == 0);
    CHECK(layout[2].bytes == 1);
    CHECK(layout[3].references[0].target == 1);
    // The generated text checks the sizes itself.
    const kma::Program program(device(),
                               {{"types.cl", types.text()},
                                {"user.cl", "kernel void offsets(global uint *at) {\n"
                                            "    at[0] = (uint)(size_t)&((global A *)0)->b; at[1] "
                                            "= (uint)(size_t)&((global B *)0)->as[1];\n}\n"}});
    const Array<cl_uint> at(2, 0);
    launch(program, "offsets", {1, 1}, at);
    CHECK(at.read() == std::vector<cl_uint>{4, 20});
    kma::Types more = types;
    CHECK(more.hash() == types.hash());
    more.add("C", {"uint x"});
    CHECK(more.hash() != types.hash());
}

TEST_CASE("wrong types say what is wrong", "[types]")
{
    kma::Types types;
    types.add("Node", {"uint key"});
    CHECK_THROWS_WITH(types.add("Node", {"uint key"}), contains("type Node is declared twice"));
    CHECK_THROWS_WITH(types.add("2nd", {"uint key"}), contains("\"2nd\" cannot name a type"));
    CHECK_THROWS_WITH(types.add("void", {"uint key"}), contains("\"void\" cannot name a type"));
    CHECK_THROWS_WITH(types.add("float4", {"uint key"}), contains("\"float4\" cannot name a type"));
    CHECK_THROWS_WITH(types.add("Empty", {}), contains("type Empty has no fields"));
    CHECK_THROWS_WITH(types.add("T", {"uint"}), contains("type T: \"uint\" is no field"));
    CHECK_THROWS_WITH(types.add("T", {"atomic uint x"}), contains("\"atomic uint x\" is no field"));
    CHECK_THROWS_WITH(types.add("T", {"uint a", "float a"}),
                      contains("type T has two fields a; rename one"));
    CHECK_THROWS_WITH(types.add("T", {"Node left"}),
                      contains("field left has type Node, which is no scalar") &&
                          contains("\"Node *left\""));
    CHECK_THROWS_WITH(types.add("T", {"float8 wide"}), contains("at most 16 bytes"));
    CHECK_THROWS_WITH(types.add_element("T", "Node"), contains("which is no scalar"));
    types.add("T", {"Other *other"});
    CHECK_THROWS_WITH(types.text(),
                      contains("type T has a reference to Other, which is not declared"));
    kma::Types many;
    for (int i = 0; i < 127; i++)
        many.add("T" + std::to_string(i), {"uint x"});
    CHECK_THROWS_WITH(many.add("One", {"uint x"}),
                      contains("type One is one too many: a collector has 127 types at most"));
}
