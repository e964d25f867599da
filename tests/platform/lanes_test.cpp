// kma/platform/lanes.cl: every function against what the host computes from the lanes that were together.
#include <algorithm>
#include <cstdio>

#include "catch.hpp"
#include "selftest/judge.hpp"
#include "support.hpp"

using namespace test;

namespace {

using Sight = kma::layout::kma_selftest_sight;
constexpr std::size_t most_visits = 32; // as in lanes.cl

// The places that work-item `me` passes in the kernel `apart`.
std::vector<cl_uint> flow_of(cl_uint me)
{
    std::vector<cl_uint> places = {me & 1 ? 1u : 2u};
    const auto look = [&](cl_uint place) { places.push_back(place); };
    const cl_uint branch = me % 5;
    if (branch == 0)
        look(3);
    if (branch == 1)
        look(4);
    if (branch == 1 || branch == 2)
        look(5);
    if (branch == 4)
        look(6);
    for (cl_uint i = 0; i < mix32(me) % 5; i++)
        look(7);
    for (cl_uint i = 0; i < 6 && !((me + i) % 2 == 0 && i == me % 7); i++)
        if ((me + i) % 2 == 0)
            look(8);
    if (me % 3 != 0 && (me & 4) != 0)
        for (cl_uint i = 0; i < 2; i++)
            for (cl_uint n = (me >> i) & 3; n > 0; n--)
                look(9);
    if (me % 5 != 0) {
        look(10);
        for (cl_uint i = 0; i < 4 && i != me % 6; i++)
            look(11);
    }
    if (me % 11 != 3)
        look(12);
    return places;
}

// Runs one kernel of lanes.cl and checks all sights. Returns how many lanes the largest group had.
std::size_t check(const Flavour &flavour, const std::string &kernel, Shape shape, cl_uint spread)
{
    const Array<Sight> sights(shape.work_items * most_visits, Sight{});
    const Array<cl_uint> visits(shape.work_items, 0);
    launch(program("platform/lanes.cl", flavour.options), kernel, shape, sights, visits, spread);
    const auto places = [&](cl_uint me) { return kernel == "apart" ? flow_of(me) : std::vector<cl_uint>{0, 1}; };
    std::size_t widest = 0;
    for (const auto &[number, place] : kma::selftest_judge::examine_lanes(
             sights.read(), visits.read(), {most_visits, shape.work_group, places, [&](cl_uint) { return spread; }})) {
        INFO("place " << number);
        REQUIRE(place.fault == "");
        widest = std::max(widest, place.widest);
    }
    return widest;
}

} // namespace

TEST_CASE("lanes agree with the host's computation", "[lanes]")
{
    for (const Flavour &flavour : flavours())
        for (const char *kernel : {"together", "apart"})
            for (const std::size_t group_size : group_sizes()) {
                INFO(flavour.name << ", " << kernel << ", work-groups of " << group_size);
                std::size_t widest = 0;
                for (const cl_uint spread : {20u, 0u}) // with 0, sums of two lanes pass 2^32 half the time
                    widest = std::max(widest, check(flavour, kernel, {scaled(4, 2) * group_size, group_size}, spread));
                if (kernel == std::string("together") && group_size == 64)
                    std::printf("lanes, %s: groups of up to %zu\n", flavour.name.c_str(), widest);
                // Where the lanes' path is taken, lanes must meet, or it would be tested on groups of one.
                const bool single = path(flavour.options).lanes == kma::LanesPath::single;
                if (group_size >= 64)
                    CHECK((single ? widest == 1 : widest > 1));
            }
}
