// The rules' numbers, the network of streets, and what may be in a cell.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "kma/kma.hpp"
#include "simulation/simulation.hpp"

namespace traffic {

/// The rules' numbers (rules.cl), and those of the network.
struct Rules {
    std::uint32_t columns = 12, rows = 8; ///< of intersections
    std::uint32_t block = 14;             ///< cells from one to the next, about
    std::uint32_t seed = 42;
    std::uint32_t max_speed = 10, green = 5;
    std::uint32_t source_share = 20, sink_share = 10;      ///< of 1024 cells
    std::uint32_t source_chance = 20, dawdle_chance = 205; ///< of 1024

    /// As the device's program has them.
    std::string defines() const;
};

/// A street, as the device has it (street_plan in rules.cl).
struct Street {
    cl_uint begin, end;           ///< its cells
    std::array<cl_uint, 3> exits; ///< streets into which it leads
    cl_uchar exit_count;
    cl_uchar limit;       ///< of speed
    cl_uchar turn, turns; ///< its light is green in turn `turn` of `turns`
};
static_assert(sizeof(Street) == 24);

struct Place {
    double x, y; ///< in cells, from the west and from the north
};

/// Intersections in columns and rows, each somewhat off its place. Neighbours are joined by a
/// street there, one back, or both. A street's exits are those from where it ends, but not back to
/// where it comes from unless there is no other. Its last cell is a sink if there is none at all.
struct Network {
    explicit Network(const Rules &rules);

    std::vector<Place> intersections;
    std::vector<Street> streets;
    /// of each street: the intersections at which it begins and ends
    std::vector<std::array<std::uint32_t, 2>> ends;
    std::vector<cl_uint> street_of;                 ///< by cell
    std::vector<cl_uchar> is_sink;                  ///< by cell; others may be sources
    std::vector<cl_uint> sources;                   ///< cells, in ascending order

    std::uint32_t cells() const { return static_cast<std::uint32_t>(is_sink.size()); }
    /// Where a cell is on the map.
    Place place_of(std::uint32_t cell) const;
};

/// What is in a cell; without a vehicle the rest is 0.
struct Spot {
    std::uint32_t luck = 0;
    std::uint8_t speed = 0;
    bool is_taken = false;
    bool operator==(const Spot &) const = default;
};
using Spots = std::vector<Spot>; ///< by cell

/// Vehicles and how many of them stand still, of `cells` cells.
samples::Numbers numbers_of(std::uint64_t vehicles, std::uint64_t halted, std::uint64_t cells);
samples::Numbers numbers_of(const Spots &spots);

/// So many steps on the host. `collisions`: how often the rules let a vehicle into a cell with
/// another one.
struct Outcome {
    Spots spots;
    std::uint64_t collisions = 0;
};
Outcome reference(const Rules &rules, const Network &network, std::uint32_t steps);

/// Writes a picture: streets, and vehicles from red, those that stand still, to green.
void draw(const Rules &rules, const Network &network, const Spots &spots,
          const std::filesystem::path &path);

/// With objects (traffic.cl).
std::unique_ptr<samples::Game> play_objects(const kma::Device &device, const Rules &rules,
                                            const Network &network,
                                            const samples::Setting &setting);
/// By hand, structure of arrays (cells.cl).
std::unique_ptr<samples::Game> play_cells(const kma::Device &device, const Rules &rules,
                                          const Network &network, const samples::Setting &setting);

} // namespace traffic
