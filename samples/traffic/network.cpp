// A random network, and the numbers of a state.
#include "network.hpp"

#include <algorithm>
#include <cmath>

#include "common/defines.hpp"
#include "common/mix32.hpp"

namespace traffic {
namespace {

enum Lot : std::uint32_t { place_x, place_y, ways, limit, first_turn, kind_of_cell };

std::uint32_t draw(const Rules &rules, Lot lot, std::uint32_t number)
{
    return samples::mix32(samples::mix32(samples::mix32(rules.seed) + lot) ^ number);
}

// Returns a coordinate up to 0.3 of a block off the block's middle.
double shifted(const Rules &rules, std::uint32_t line, Lot lot, std::uint32_t intersection)
{
    return rules.block * (line + 0.2 + 0.6 * (draw(rules, lot, intersection) % 1024) / 1024);
}

// Joins two neighbours by streets, at random: one each way for half of the pairs, else one.
void join(const Rules &rules, Network &network, std::uint32_t one, std::uint32_t other,
          std::uint32_t pair)
{
    const std::uint32_t lot = draw(rules, ways, pair) % 8;
    if (lot < 6)
        network.ends.push_back({one, other});
    if (lot >= 6 || lot < 4)
        network.ends.push_back({other, one});
}

void lay_streets(const Rules &rules, Network &network)
{
    std::uint32_t cells = 0;
    std::vector<std::uint32_t> turns(network.intersections.size());
    for (const auto &[from, to] : network.ends) {
        const Place a = network.intersections[from], b = network.intersections[to];
        const auto number = static_cast<std::uint32_t>(network.streets.size());
        const auto length = static_cast<std::uint32_t>(std::max(
            1.0, std::round(std::sqrt((b.x - a.x) * (b.x - a.x) + (b.y - a.y) * (b.y - a.y)))));
        Street street = {cells, cells + length, {}, 0, 0, 0, 0};
        street.limit = static_cast<cl_uchar>(rules.max_speed - draw(rules, limit, number) %
                                                                   (rules.max_speed / 2 + 1));
        street.turn = static_cast<cl_uchar>(turns[to]++);
        network.streets.push_back(street);
        network.street_of.insert(network.street_of.end(), length, number);
        cells += length;
    }
    for (std::size_t i = 0; i < network.streets.size(); i++) {
        const std::uint32_t to = network.ends[i][1];
        Street &street = network.streets[i];
        street.turns = static_cast<cl_uchar>(turns[to]);
        street.turn =
            static_cast<cl_uchar>((street.turn + draw(rules, first_turn, to)) % turns[to]);
    }
}

void find_exits(Network &network)
{
    std::vector<std::vector<std::uint32_t>> from(network.intersections.size());
    for (std::uint32_t i = 0; i < network.streets.size(); i++)
        from[network.ends[i][0]].push_back(i);
    for (std::size_t i = 0; i < network.streets.size(); i++) {
        const auto [begin, end] = network.ends[i];
        Street &street = network.streets[i];
        for (const std::uint32_t exit : from[end])
            if (network.ends[exit][1] != begin || from[end].size() == 1)
                street.exits.at(street.exit_count++) = exit;
    }
}

} // namespace

Network::Network(const Rules &rules)
{
    for (std::uint32_t i = 0; i < rules.columns * rules.rows; i++)
        intersections.push_back({shifted(rules, i % rules.columns, place_x, i),
                                 shifted(rules, i / rules.columns, place_y, i)});
    for (std::uint32_t i = 0; i < rules.columns * rules.rows; i++) {
        if (i % rules.columns + 1 != rules.columns)
            join(rules, *this, i, i + 1, 2 * i);
        if (i / rules.columns + 1 != rules.rows)
            join(rules, *this, i, i + rules.columns, 2 * i + 1);
    }
    lay_streets(rules, *this);
    find_exits(*this);
    is_sink.resize(street_of.size());
    for (const Street &street : streets)
        is_sink[street.end - 1] = street.exit_count == 0;
    for (std::uint32_t cell = 0; cell < cells(); cell++) {
        const std::uint32_t lot = draw(rules, kind_of_cell, cell) % 1024;
        if (lot < rules.sink_share)
            is_sink[cell] = 1;
        else if (lot < rules.sink_share + rules.source_share && !is_sink[cell])
            sources.push_back(cell);
    }
}

Place Network::place_of(std::uint32_t cell) const
{
    const Street &street = streets[street_of[cell]];
    const Place from = intersections[ends[street_of[cell]][0]],
                to = intersections[ends[street_of[cell]][1]];
    const double along = (cell - street.begin + 0.5) / (street.end - street.begin);
    return {from.x + along * (to.x - from.x), from.y + along * (to.y - from.y)};
}

std::string Rules::defines() const
{
    using samples::define;
    return define("SEED", seed) + define("MAX_SPEED", max_speed) + define("GREEN", green) +
           define("SOURCE_CHANCE", source_chance) + define("DAWDLE_CHANCE", dawdle_chance);
}

samples::Numbers numbers_of(std::uint64_t vehicles, std::uint64_t halted, std::uint64_t cells)
{
    return {{"vehicles", vehicles}, {"halted", halted}, {"cells", cells}};
}

samples::Numbers numbers_of(const Spots &spots)
{
    std::uint64_t vehicles = 0, halted = 0;
    for (const Spot &spot : spots) {
        vehicles += spot.is_taken;
        halted += spot.is_taken && spot.speed == 0;
    }
    return numbers_of(vehicles, halted, spots.size());
}

} // namespace traffic
