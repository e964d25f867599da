// kma/platform/lanes.cl: every function against what the host computes from the lanes that were together.
#include <algorithm>
#include <bit>
#include <cstdio>
#include <limits>
#include <map>

#include "catch.hpp"
#include "support.hpp"

using namespace test;

namespace {

// As in lanes.cl.
struct Sight {
    cl_ulong group, ballot, match3, match32, alike, key;
    cl_uint token, place, lane, rank, count, flags, value, next, next_value, before, total, classes;
};
constexpr std::size_t most_visits = 32;

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

cl_ulong bit(cl_uint lane)
{
    return cl_ulong{1} << lane;
}

// The first thing wrong with the sights of lanes that were together; empty if all is right. `members` by lane.
std::string fault_of(const std::map<cl_uint, const Sight *> &members)
{
    const auto set_of = [&](const auto &belongs) {
        cl_ulong set = 0;
        for (const auto &[lane, sight] : members)
            if (belongs(*sight))
                set |= bit(lane);
        return set;
    };
    const Sight &leader = *members.begin()->second;
    const cl_ulong group = set_of([](const Sight &) { return true; });
    const cl_ulong ballot = set_of([](const Sight &other) { return (other.value & 1) != 0; });
    const cl_ulong alike = set_of([&](const Sight &other) { return other.key == leader.key; });
    constexpr cl_ulong most = std::numeric_limits<cl_uint>::max();
    cl_ulong sum = 0;
    for (const auto &[lane, sight] : members)
        sum += sight->value;
    const cl_uint total = static_cast<cl_uint>(std::min(sum, most));
    cl_uint rank = 0;
    cl_ulong before = 0;
    for (auto member = members.begin(); member != members.end(); ++member, rank++) {
        const auto &[lane, sight] = *member;
        const auto next = std::next(member) == members.end() ? members.begin() : std::next(member);
        if (sight->group != group)
            return "the group is not the lanes that heard the same leader";
        if (sight->place != leader.place)
            return "lanes at different places in one group";
        if (sight->rank != rank || sight->count != members.size() || (sight->flags & 1) != (rank == 0 ? 1 : 0))
            return "rank, count or leads";
        if (sight->next != next->first || sight->next_value != next->second->value)
            return "shuffle";
        if (sight->ballot != ballot)
            return "ballot";
        if (sight->match3 != set_of([&](const Sight &other) { return other.value % 8 == sight->value % 8; }))
            return "match by 3 bits";
        if (sight->match32 != set_of([&](const Sight &other) { return other.classes == sight->classes; }))
            return "match by 32 bits";
        if (sight->alike != alike || (sight->flags & 2) != (sight->key == leader.key ? 2 : 0))
            return "alike";
        if (sight->before != std::min(before, most) || sight->total != total)
            return "scan: lane " + std::to_string(lane) + " of " + std::to_string(members.size()) + " got " +
                   std::to_string(sight->before) + " and " + std::to_string(sight->total) + ", not " +
                   std::to_string(std::min(before, most)) + " and " + std::to_string(total);
        before += sight->value;
    }
    return {};
}

// Runs one kernel of lanes.cl and checks all sights. Returns how many lanes the largest group had.
std::size_t check(const Flavour &flavour, const std::string &kernel, Shape shape, cl_uint spread)
{
    const Array<Sight> sights(shape.work_items * most_visits, Sight{});
    const Array<cl_uint> visits(shape.work_items, 0);
    launch(program("lanes.cl", flavour.options), kernel, shape, sights, visits, spread);
    const std::vector<Sight> seen = sights.read();
    const std::vector<cl_uint> visited = visits.read();

    std::map<cl_uint, std::map<cl_uint, const Sight *>> groups; // by token, by lane
    for (cl_uint me = 0; me < shape.work_items; me++) {
        std::vector<cl_uint> places;
        for (cl_uint visit = 0; visit < std::min<std::size_t>(visited[me], most_visits); visit++) {
            const Sight &sight = seen[me * most_visits + visit];
            places.push_back(sight.place);
            REQUIRE(sight.lane < 64);
            REQUIRE(sight.value == mix32(static_cast<cl_uint>(me * most_visits + visit)) >> spread);
            // Two work-items with the same lane in one group would be a group that spans sub-groups.
            REQUIRE(groups[sight.token].emplace(sight.lane, &sight).second);
            REQUIRE(sight.token / most_visits / shape.work_group == me / shape.work_group);
        }
        REQUIRE(places == (kernel == "apart" ? flow_of(me) : std::vector<cl_uint>{0, 1}));
    }
    std::size_t widest = 0;
    for (const auto &[token, members] : groups) {
        INFO("place " << members.begin()->second->place << ", work-item " << token / most_visits);
        REQUIRE(fault_of(members) == "");
        // The token is the leader's own.
        const std::ptrdiff_t leader = members.begin()->second - seen.data();
        REQUIRE(leader == static_cast<std::ptrdiff_t>(token));
        widest = std::max(widest, members.size());
    }
    return widest;
}

} // namespace

TEST_CASE("lanes agree with the host's computation", "[lanes]")
{
    const Flavours all = flavours();
    const Flavour flavour = GENERATE_COPY(from_range(all));
    const std::string kernel = GENERATE("together", "apart");
    const std::size_t group_size = GENERATE_COPY(from_range(group_sizes()));
    INFO(flavour.name << ", " << kernel << ", work-groups of " << group_size);
    const bool single = path(flavour.options).lanes == kma::LanesPath::single;
    std::size_t widest = 0;
    for (const cl_uint spread : {20u, 0u}) // with 0, sums of two lanes pass 2^32 half the time
        widest = std::max(widest, check(flavour, kernel, {scaled(4, 2) * group_size, group_size}, spread));
    if (kernel == "together" && group_size == 64)
        std::printf("lanes, %s: groups of up to %zu\n", flavour.name.c_str(), widest);
    // Where the lanes' path is taken, lanes must meet, or it would be tested on groups of one.
    if (group_size >= 64)
        CHECK((single ? widest == 1 : widest > 1));
}
