// Lanes in a function that is called, not inlined: each group must see its own lanes only.
#include <map>

#include "catch.hpp"
#include "support.hpp"

using namespace test;

namespace {

struct CalledSight {
    cl_ulong group;
    cl_ulong ballot;
    cl_ulong match;
    cl_ulong later;
    cl_uint token;
    cl_uint lane;
};

// What the kernel gives a work-item to tell others: one of eight values, by the arm it takes.
cl_uint value_of(std::size_t me)
{
    const cl_uint random = mix32(static_cast<std::uint32_t>(me));
    return random >> (8 + 4 * (random % 4)) & 7;
}

// The lanes of a group: all, and those with each value.
struct Group {
    cl_ulong lanes = 0;
    cl_ulong by_value[8] = {};
};

} // namespace

TEST_CASE("groups that meet in a function do not share their lanes", "[lanes]")
{
    const Flavours all = flavours();
    const Flavour flavour = GENERATE_COPY(from_range(all));
    INFO(flavour.name);
    const std::size_t work_items = 64 * scaled(64, 2);
    const Array<CalledSight> sights(work_items, CalledSight{});
    const Array<cl_uint> turns(work_items, 0);
    launch(program("lanes_called.cl", flavour.options), "calls", {work_items, 64}, sights, turns);

    const std::vector<CalledSight> seen = sights.read();
    std::map<cl_uint, Group> groups; // by token
    for (std::size_t me = 0; me < work_items; me++) {
        REQUIRE(seen[me].lane < 64);
        REQUIRE(seen[me].token < work_items);
        const cl_ulong lane = cl_ulong{1} << seen[me].lane;
        Group &group = groups[seen[me].token];
        CHECK((group.lanes & lane) == 0);
        group.lanes |= lane;
        group.by_value[value_of(me)] |= lane;
    }
    for (std::size_t me = 0; me < work_items; me++) {
        INFO("work-item " << me << ", lane " << seen[me].lane);
        const Group &group = groups[seen[me].token];
        const auto &with = group.by_value;
        REQUIRE(mix32(static_cast<std::uint32_t>(me)) % 4 == mix32(seen[me].token) % 4); // its leader's arm is its own
        REQUIRE(seen[me].group == group.lanes);
        REQUIRE(seen[me].ballot == (with[1] | with[3] | with[5] | with[7]));
        REQUIRE(seen[me].match == with[value_of(me)]);
        REQUIRE(seen[me].later == (with[2] | with[3] | with[6] | with[7]));
    }
}
