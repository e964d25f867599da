// The rules' constants, the network of streets, and the contents of a cell.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "kma/kma.hpp"
#include "simulation/simulation.hpp"

namespace traffic {

/// The rules' constants (rules.cl), and those of the network.
struct Rules {
    std::uint32_t columns = 12, rows = 8; ///< of intersections
    std::uint32_t block = 14;             ///< approximate cells between two intersections
    std::uint32_t seed = 42;
    std::uint32_t max_speed = 10, green = 5;
    std::uint32_t source_share = 20, sink_share = 10;      ///< of 1024 cells
    std::uint32_t source_chance = 20, dawdle_chance = 205; ///< of 1024

    /// Returns the build options that define them for the device's program.
    std::string defines() const;
};

/// A street in the device's layout (street_plan in rules.cl).
struct Street {
    cl_uint begin, end;           ///< its cells: begin … end - 1
    std::array<cl_uint, 3> exits; ///< numbers of the streets that follow
    cl_uchar exit_count;
    cl_uchar limit;       ///< of speed, in cells per step
    cl_uchar turn, turns; ///< its light is green in turn `turn` of `turns`
};
static_assert(sizeof(Street) == 24);

struct Place {
    double x, y; ///< in cells, from the west and from the north
};

/// Intersections in columns and rows, each shifted at random. Neighbours are joined by one street,
/// or by one each way. A street's exits are the streets that begin at its end, except the way back
/// unless it is the only one. The last cell of a street without exits is a sink.
struct Network {
    explicit Network(const Rules &rules);

    std::vector<Place> intersections;
    std::vector<Street> streets;
    /// for each street the intersections at which it begins and ends
    std::vector<std::array<std::uint32_t, 2>> ends;
    std::vector<cl_uint> street_of;                 ///< by cell
    std::vector<cl_uchar> is_sink;                  ///< by cell; other cells may be sources
    std::vector<cl_uint> sources;                   ///< cells, in ascending order

    std::uint32_t cells() const { return static_cast<std::uint32_t>(is_sink.size()); }
    /// Returns the cell's position on the map.
    Place place_of(std::uint32_t cell) const;
};

/// The contents of a cell; all 0 without a vehicle.
struct Spot {
    std::uint32_t luck = 0;
    std::uint8_t speed = 0;
    bool is_taken = false;
    bool operator==(const Spot &) const = default;
};
using Spots = std::vector<Spot>; ///< by cell

/// Returns the number of vehicles, of halted vehicles, and of cells.
samples::Numbers numbers_of(std::uint64_t vehicles, std::uint64_t halted, std::uint64_t cells);
samples::Numbers numbers_of(const Spots &spots);

/// The result of `steps` steps on the host. `collisions` counts vehicles that entered a cell with
/// another vehicle.
struct Outcome {
    Spots spots;
    std::uint64_t collisions = 0;
};
Outcome reference(const Rules &rules, const Network &network, std::uint32_t steps);

/// Writes a picture: streets, and vehicles, from red if halted to green.
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
