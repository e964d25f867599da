// kma_lanes_active at the start of both arms of an `if`: each arm must see its own lanes only.
#include <map>

#include "catch.hpp"
#include "support.hpp"

using namespace test;

namespace {

struct ArmSight {
    cl_ulong group;
    cl_ulong ballot;
    cl_uint token;
    cl_uint lane;
};

} // namespace

TEST_CASE("the two arms of an if do not share their lanes", "[lanes]")
{
    const Flavours all = flavours();
    const Flavour flavour = GENERATE_COPY(from_range(all));
    INFO(flavour.name);
    const std::size_t work_items = 64 * scaled(16, 2);
    const Array<ArmSight> sights(work_items, ArmSight{});
    launch(program("platform/lanes.cl", flavour.options), "arms", {work_items, 64}, sights);

    struct Group {
        cl_ulong lanes = 0;
        cl_ulong with_bit = 0;
    };
    const std::vector<ArmSight> seen = sights.read();
    std::map<cl_uint, Group> groups; // by token
    for (std::size_t me = 0; me < work_items; me++) {
        REQUIRE(seen[me].lane < 64);
        const cl_ulong lane = cl_ulong{1} << seen[me].lane;
        Group &group = groups[seen[me].token];
        group.lanes |= lane;
        group.with_bit |= me & 2 ? lane : 0;
        REQUIRE(seen[me].token % 2 == me % 2); // the leader is in the same arm
    }
    for (std::size_t me = 0; me < work_items; me++) {
        REQUIRE(seen[me].group == groups[seen[me].token].lanes);
        REQUIRE(seen[me].ballot == groups[seen[me].token].with_bit);
    }
}
