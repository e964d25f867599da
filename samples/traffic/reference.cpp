// The same traffic on the host, written from the rules, not from the kernels: streets are rows of
// vehicles. For each vehicle: first the whole way that lights and limits allow, then its free part.
#include <algorithm>
#include <optional>

#include "common/mix32.hpp"
#include "network.hpp"

namespace traffic {
namespace {

enum Purpose : std::uint32_t { makes, luck, dawdles, exit_taken };

struct Vehicle {
    std::uint32_t luck, speed;
};
using Lane = std::vector<std::optional<Vehicle>>;

struct Position {
    std::uint32_t street, cell; ///< cell within the street, from 0
};

class Reference {
public:
    Reference(const Rules &rules, const Network &network) : rules_(rules), network_(network)
    {
        for (const Street &street : network.streets)
            lanes_.emplace_back(street.end - street.begin);
    }
    void step(std::uint32_t number)
    {
        number_ = number;
        for (const std::uint32_t source : network_.sources) {
            std::optional<Vehicle> &there = at(lanes_, position_of(source));
            if (!there && draw(source, makes) % 1024 < rules_.source_chance)
                there = Vehicle{draw(source, luck), 0};
        }
        std::vector<Lane> later;
        for (const Lane &lane : lanes_)
            later.emplace_back(lane.size());
        for (std::uint32_t street = 0; street < lanes_.size(); street++)
            for (std::uint32_t cell = 0; cell < lanes_[street].size(); cell++)
                if (lanes_[street][cell])
                    drive(*lanes_[street][cell], {street, cell}, later);
        lanes_ = std::move(later);
    }
    Outcome outcome() const
    {
        Outcome outcome{{}, collisions_};
        for (const Lane &lane : lanes_)
            for (const std::optional<Vehicle> &there : lane)
                outcome.spots.push_back(
                    there ? Spot{there->luck, static_cast<std::uint8_t>(there->speed), true}
                          : Spot{});
        return outcome;
    }

private:
    std::uint32_t draw(std::uint32_t subject, Purpose purpose) const
    {
        return samples::mix32(samples::mix32(rules_.seed + 4 * number_ + purpose) ^ subject);
    }
    Position position_of(std::uint32_t cell) const
    {
        const std::uint32_t street = network_.street_of[cell];
        return {street, cell - network_.streets[street].begin};
    }
    static std::optional<Vehicle> &at(std::vector<Lane> &lanes, Position position)
    {
        return lanes[position.street][position.cell];
    }

    // Returns the positions ahead that the vehicle may pass in this step if they are all free.
    std::vector<Position> way_of(const Vehicle &vehicle, Position position) const
    {
        std::vector<Position> way;
        std::uint32_t speed = std::min(
            vehicle.speed + 1, rules_.max_speed - vehicle.luck % (rules_.max_speed / 2 + 1));
        while (way.size() <
               std::min<std::uint32_t>(speed, network_.streets[position.street].limit)) {
            if (++position.cell == lanes_[position.street].size()) {
                const Street &street = network_.streets[position.street];
                if (street.exit_count == 0 || number_ / rules_.green % street.turns != street.turn)
                    break;
                speed = std::min<std::uint32_t>(speed, street.limit);
                position = {street.exits[draw(vehicle.luck + static_cast<std::uint32_t>(way.size()),
                                              exit_taken) %
                                         street.exit_count],
                            0};
                if (network_.streets[position.street].limit <= way.size())
                    break;
            }
            way.push_back(position);
        }
        return way;
    }
    void drive(const Vehicle &vehicle, const Position &from, std::vector<Lane> &later)
    {
        const std::vector<Position> way = way_of(vehicle, from);
        auto speed =
            static_cast<std::uint32_t>(std::find_if(way.begin(), way.end(),
                                                    [&](const Position &position) {
                                                        return at(lanes_, position).has_value();
                                                    }) -
                                       way.begin());
        if (speed != 0 && draw(vehicle.luck, dawdles) % 1024 < rules_.dawdle_chance)
            speed--;
        const Position to = speed == 0 ? from : way[speed - 1];
        if (network_.is_sink[network_.streets[to.street].begin + to.cell])
            return;
        collisions_ += at(later, to).has_value();
        at(later, to) = Vehicle{vehicle.luck, speed};
    }

    const Rules &rules_;
    const Network &network_;
    std::vector<Lane> lanes_;
    std::uint32_t number_ = 0; // of the current step
    std::uint64_t collisions_ = 0;
};

} // namespace

Outcome reference(const Rules &rules, const Network &network, std::uint32_t steps)
{
    Reference traffic(rules, network);
    for (std::uint32_t step = 0; step < steps; step++)
        traffic.step(step);
    return traffic.outcome();
}

} // namespace traffic
