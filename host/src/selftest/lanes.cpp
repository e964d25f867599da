// Judges lanes: compares what each observed with what the host computes from its group.
#include <algorithm>
#include <iterator>
#include <limits>

#include "support/say.hpp"
#include "selftest/judge.hpp"

namespace kma::selftest_judge {
namespace {

using Sight = layout::kma_selftest_sight;
using Verdict = SelftestResult::Verdict;
using Members = std::map<std::uint32_t, const Sight *>; // the lanes of one group

// The set of the members for which `belongs` returns true.
template <class Belongs> std::uint64_t set_of(const Members &members, const Belongs &belongs)
{
    std::uint64_t set = 0;
    for (const auto &[lane, sight] : members)
        if (belongs(*sight))
            set |= std::uint64_t{1} << lane;
    return set;
}

std::string wrong_set(const char *what, std::uint32_t lane, std::uint64_t is, std::uint64_t right)
{
    return say(what, " gave lane ", lane, " the lanes 0x", std::hex, is, " instead of 0x", right);
}

std::string wrong_number(const char *what, std::uint32_t lane, std::uint64_t is,
                         std::uint64_t right)
{
    return say(what, " gave lane ", lane, " ", is, " instead of ", right);
}

// Checks ballot, match and alike.
std::string fault_in_sets(const Members &members)
{
    const Sight &leader = *members.begin()->second;
    const std::uint64_t ballot =
        set_of(members, [](const Sight &other) { return (other.value & 1) != 0; });
    const std::uint64_t alike =
        set_of(members, [&](const Sight &other) { return other.key == leader.key; });
    for (const auto &[lane, mine] : members) {
        const std::uint64_t match3 = set_of(members, [&, sight = mine](const Sight &other) {
            return other.value % 8 == sight->value % 8;
        });
        const std::uint64_t match32 = set_of(members, [&, sight = mine](const Sight &other) {
            return other.classes == sight->classes;
        });
        if (mine->ballot != ballot)
            return wrong_set("kma_lanes_ballot", lane, mine->ballot, ballot);
        if (mine->match3 != match3)
            return wrong_set("kma_lanes_match by 3 bits", lane, mine->match3, match3);
        if (mine->match32 != match32)
            return wrong_set("kma_lanes_match by 32 bits", lane, mine->match32, match32);
        if (mine->alike != alike)
            return wrong_set("kma_lanes_alike", lane, mine->alike, alike);
        if ((mine->flags & 2) != (mine->key == leader.key ? 2u : 0u))
            return wrong_number("kma_lane_in", lane, mine->flags / 2, mine->key == leader.key);
    }
    return {};
}

// Checks rank, count, leads, shuffle and scan.
std::string fault_in_numbers(const Members &members)
{
    constexpr std::uint64_t most = std::numeric_limits<std::uint32_t>::max();
    std::uint64_t sum = 0;
    for (const auto &[lane, sight] : members)
        sum += sight->value;
    std::uint32_t rank = 0;
    std::uint64_t before = 0;
    for (auto member = members.begin(); member != members.end(); ++member, rank++) {
        const auto &[lane, mine] = *member;
        const auto next = std::next(member) == members.end() ? members.begin() : std::next(member);
        if (mine->rank != rank)
            return wrong_number("kma_lane_rank", lane, mine->rank, rank);
        if (mine->count != members.size())
            return wrong_number("kma_lanes_count", lane, mine->count, members.size());
        if ((mine->flags & 1) != (rank == 0 ? 1u : 0u))
            return wrong_number("kma_lane_leads", lane, mine->flags & 1, rank == 0);
        if (mine->next != next->first || mine->next_value != next->second->value)
            return say("kma_lanes_shuffle gave lane ", lane, " ", mine->next_value, " of lane ",
                       mine->next, " instead of ", next->second->value, " of lane ", next->first);
        if (mine->before != std::min(before, most) || mine->total != std::min(sum, most))
            return say("kma_lanes_scan gave lane ", lane, " of ", members.size(), " the sums ",
                       mine->before, " and ", mine->total, " instead of ", std::min(before, most),
                       " and ", std::min(sum, most));
        before += mine->value;
    }
    return {};
}

// The first fault in what the lanes of a group observed; empty if there is none.
std::string fault_of(const Members &members)
{
    const Sight &leader = *members.begin()->second;
    const std::uint64_t group = set_of(members, [](const Sight &) { return true; });
    for (const auto &[lane, mine] : members) {
        if (mine->group != group)
            return wrong_set("kma_lanes_active", lane, mine->group, group) +
                   ", which heard the same leader";
        if (mine->place != leader.place)
            return say("lanes ", members.begin()->first, " and ", lane,
                       " were in one group at different places of the program");
    }
    if (std::string fault = fault_in_sets(members); !fault.empty())
        return fault;
    return fault_in_numbers(members);
}

class Examination {
public:
    Examination(const std::vector<Sight> &sights, const std::vector<std::uint32_t> &visits,
                const LaneFlow &flow)
        : sights_(sights), flow_(flow)
    {
        for (std::uint32_t me = 0; me < visits.size(); me++)
            follow(me, std::min<std::size_t>(visits[me], flow.most_visits));
        for (const auto &[token, members] : groups_)
            judge(token, members);
    }

    std::map<std::uint32_t, LanePlace> take() { return std::move(places_); }

private:
    template <class... Parts> void add(std::uint32_t place, const Parts &...sentence)
    {
        if (std::string &fault = places_[place].fault; fault.empty())
            fault = say(sentence...);
    }

    // Adds a work-item's observations to groups, as long as they follow the flow.
    void follow(std::uint32_t me, std::size_t visits)
    {
        const std::vector<std::uint32_t> right = flow_.places(me);
        for (std::uint32_t visit = 0; visit < std::max(visits, right.size()); visit++) {
            const std::size_t at = me * flow_.most_visits + visit;
            if (visit >= right.size() || visit >= visits) {
                add(visit < right.size() ? right[visit] : right.back(), "work-item ", me,
                    " passed ", visits, " places of the program instead of ", right.size());
                return;
            }
            if (sights_[at].place != right[visit]) {
                add(right[visit], "work-item ", me, " noted place ", sights_[at].place,
                    " of the program instead of ", right[visit]);
                return;
            }
            const Sight &sight = sights_[at];
            const std::uint32_t value =
                mix32(static_cast<std::uint32_t>(at)) >> flow_.spread(sight.place);
            if (sight.lane >= 64 || sight.value != value)
                add(sight.place, "work-item ", me, " was lane ", sight.lane, " and computed ",
                    sight.value, " instead of ", value);
            else if (const std::size_t leader = sight.token / flow_.most_visits;
                     sight.token >= sights_.size() ||
                     leader / flow_.work_group != me / flow_.work_group)
                add(sight.place, "kma_lanes_first gave work-item ", me, " the number ", sight.token,
                    ", which no lane of its work-group had");
            else if (!groups_[sight.token].emplace(sight.lane, &sight).second)
                add(sight.place, "two work-items heard of one leader as lane ", sight.lane);
        }
    }

    void judge(std::uint32_t token, const Members &members)
    {
        const Sight &leader = *members.begin()->second;
        LanePlace &place = places_[leader.place];
        place.groups++;
        place.widest = std::max(place.widest, members.size());
        if (place.fault.empty())
            place.fault = fault_of(members);
        if (&leader != &sights_[token])
            add(leader.place, "kma_lanes_first gave the number of work-item ",
                token / flow_.most_visits, ", which is not the group's first lane");
    }

    const std::vector<Sight> &sights_;
    const LaneFlow &flow_;
    std::map<std::uint32_t, Members> groups_; // by token
    std::map<std::uint32_t, LanePlace> places_;
};

} // namespace

std::map<std::uint32_t, LanePlace> examine_lanes(const std::vector<Sight> &sights,
                                                 const std::vector<std::uint32_t> &visits,
                                                 const LaneFlow &flow)
{
    return Examination(sights, visits, flow).take();
}

std::vector<SelftestResult> judge_lanes(const std::map<std::uint32_t, LanePlace> &places,
                                        std::uint32_t first_apart)
{
    std::vector<SelftestResult> results = {{"lanes together", Verdict::passed, {}},
                                           {"lanes apart", Verdict::passed, {}}};
    for (const bool apart : {false, true}) {
        SelftestResult &result = results[apart];
        std::size_t groups = 0, widest = 0;
        for (const auto &[number, place] : places) {
            if ((number >= first_apart) != apart)
                continue;
            groups += place.groups;
            widest = std::max(widest, place.widest);
            if (!place.fault.empty() && result.verdict == Verdict::passed) {
                result.verdict = Verdict::failed;
                result.detail =
                    say(apart ? "where work-items had diverged, " : "where nothing had diverged, ",
                        place.fault, "; update the device's driver");
            }
        }
        if (result.verdict == Verdict::failed && widest > 1)
            result.detail +=
                ", or build everything with -DKMA_LANES=1, which lets each work-item go alone";
        if (result.verdict == Verdict::passed)
            result.detail =
                say(groups, " groups of up to ", widest, widest == 1 ? " lane" : " lanes");
    }
    return results;
}

} // namespace kma::selftest_judge
