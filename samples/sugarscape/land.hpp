// The land, the rules' constants, and the contents of a cell.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "simulation/simulation.hpp"

namespace sugarscape {

/// The rules' constants (rules.cl).
struct Rules {
    std::uint32_t width = 256, height = 256;
    std::uint32_t seed = 42;
    std::uint32_t male_share = 20, female_share = 25; ///< of 256 cells, at the start
    std::uint32_t capacity = 200;                     ///< of a hilltop for sugar
    std::uint32_t regrowth = 15;                      ///< steps in which an empty cell fills up
    std::uint32_t vision = 2;                         ///< largest vision, in cells
    std::uint32_t metabolism = 20, metabolism_more = 20, endowment = 100, endowment_more = 100,
                  life = 60, life_more = 40;
    std::uint32_t fertile_from = 15, fertile_until = 50;

    std::uint32_t cells() const { return width * height; }
    /// Returns each cell's capacity for sugar. There are two hills: where x and y are a quarter of
    /// the land's length, and where they are three quarters.
    std::vector<std::uint8_t> capacities() const;
    /// Returns the build options that define them for the device's program.
    std::string defines() const;
};

enum class Sex : std::uint8_t { none, male, female };

/// The contents of a cell. Without an agent, all fields but sugar are 0.
struct Cell {
    std::uint16_t sugar = 0; ///< on the ground
    Sex sex = Sex::none;
    std::uint8_t age = 0, vision = 0, metabolism = 0, endowment = 0, life = 0;
    std::uint32_t wealth = 0;
    bool operator==(const Cell &) const = default;
};
using Grid = std::vector<Cell>; ///< row by row from the north

// Bits of a cell's word on the device (rules.cl).
constexpr std::uint32_t sugar_bits = 0x1fff, female_bit = 0x4000, somebody_bit = 0x8000;

/// Returns a cell with an agent; `genes` are packed into one word as on the device.
Cell inhabited(std::uint16_t sugar, Sex sex, std::uint8_t age, std::uint32_t wealth,
               std::uint32_t genes);

/// Returns the number of males and of females.
samples::Numbers population_of(const Grid &grid);

/// With objects (sugarscape.cl).
std::unique_ptr<samples::Game> play_objects(const kma::Device &device, const Rules &rules,
                                            const samples::Setting &setting);
/// By hand, structure of arrays (cells.cl).
std::unique_ptr<samples::Game> play_cells(const kma::Device &device, const Rules &rules,
                                          const samples::Setting &setting);

/// Returns the grid after `steps` steps on the host, one agent after the other.
Grid reference(const Rules &rules, std::uint32_t steps);

} // namespace sugarscape
