// kma::Types: what is declared is what the device compiles, and wrong declarations say why.
#include "catch.hpp"
#include "support.hpp"

using namespace test;

TEST_CASE("types are laid out as OpenCL C lays out structs", "[types]")
{
    kma::Types types;
    types.add("A", {"uchar a", "B *b", "ulong c", "uchar d"});
    types.add("B", {"float3 place", "atomic A *as[3]", "void *any", "ulong count"});
    types.add_element("Bytes", "uchar");
    types.add_element("As", "A *");
    std::string layout; // of each type the bytes, and of each reference offset and target
    for (const auto &type : types.layout()) {
        layout += std::to_string(type.bytes);
        for (const auto &one : type.references)
            layout += " " + std::to_string(one.offset) + ">" + std::to_string(one.target);
        layout += "; ";
    }
    CHECK(layout == "24 4>2; 48 16>1 20>1 24>1 28>0; 1; 4 0>1; ");
    // The generated text checks the sizes itself.
    const kma::Program program(device(), {{"types.cl", types.text()}, {"user.cl", R"(
kernel void offsets(global uint *at)
{
    at[0] = (uint)(size_t)&((global A *)0)->b;
    at[1] = (uint)(size_t)&((global B *)0)->as[1];
})"}});
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
    struct Case {
        std::string name;
        std::vector<std::string> fields;
        std::string message;
    };
    kma::Types types;
    types.add("Node", {"uint key"});
    for (const Case &one :
         std::vector<Case>{{"Node", {"uint key"}, "type Node is declared twice"},
                           {"2nd", {"uint key"}, "\"2nd\" cannot name a type"},
                           {"void", {"uint key"}, "\"void\" cannot name a type"},
                           {"float4", {"uint key"}, "\"float4\" cannot name a type"},
                           {"Empty", {}, "type Empty has no fields"},
                           {"T", {"uint"}, "type T: \"uint\" is no field"},
                           {"T", {"atomic uint x"}, "\"atomic uint x\" is no field"},
                           {"T", {"uint a", "float a"}, "type T has two fields a; rename one"},
                           {"T", {"Node left"}, "field left has type Node, which is no scalar"},
                           {"T", {"Node left"}, "\"Node *left\""},
                           {"T", {"float8 wide"}, "at most 16 bytes"}})
        CHECK_THROWS_WITH(types.add(one.name, one.fields), contains(one.message));
    CHECK_THROWS_WITH(types.add_element("T", "Node"), contains("which is no scalar"));
    types.add("T", {"Other *other"});
    CHECK_THROWS_WITH(types.text(),
                      contains("type T has a reference to Other, which is not declared"));
    for (int i = 2; i < 127; i++)
        types.add("T" + std::to_string(i), {"uint x"});
    CHECK_THROWS_WITH(types.add("One", {"uint x"}),
                      contains("type One is one too many: a collector has 127 types at most"));
}
