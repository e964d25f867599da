// The land, its rules' numbers, and what may be in a cell.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "simulation/simulation.hpp"

namespace sugarscape {

/// The rules' numbers (rules.cl).
struct Rules {
    std::uint32_t width = 256, height = 256;
    std::uint32_t seed = 42;
    std::uint32_t male_share = 20, female_share = 25; ///< of 256 cells at the beginning
    std::uint32_t capacity = 200;                     ///< of a hilltop
    std::uint32_t regrowth = 15;                      ///< steps in which a cell would be full again
    std::uint32_t vision = 2;                         ///< at most
    std::uint32_t metabolism = 20, metabolism_more = 20, endowment = 100, endowment_more = 100,
                  life = 60, life_more = 40;
    std::uint32_t fertile_from = 15, fertile_until = 50;

    std::uint32_t cells() const { return width * height; }
    /// Of each cell, for sugar: there are hills where x and y are a quarter of the land's length,
    /// and where they are three quarters.
    std::vector<std::uint8_t> capacities() const;
    /// As the device's program has them.
    std::string defines() const;
};

enum class Who : std::uint8_t { nobody, male, female };

/// What is in a cell. Without an agent, all but sugar is 0.
struct Cell {
    std::uint16_t sugar = 0; ///< on the ground
    Who who = Who::nobody;
    std::uint8_t age = 0, vision = 0, metabolism = 0, endowment = 0, life = 0;
    std::uint32_t wealth = 0;
    bool operator==(const Cell &) const = default;
};
using Grid = std::vector<Cell>; ///< row by row from the north

// Of a cell's word on the device (rules.cl).
constexpr std::uint32_t sugar_bits = 0x1fff, female_bit = 0x4000, somebody_bit = 0x8000;

/// A cell with an agent, whose genes are in one word as on the device.
Cell inhabited(std::uint16_t sugar, Who who, std::uint8_t age, std::uint32_t wealth,
               std::uint32_t genes);

/// How many there are of each.
samples::Numbers population_of(const Grid &grid);

/// With objects (sugarscape.cl).
std::unique_ptr<samples::Game> play_objects(const kma::Device &device, const Rules &rules,
                                            const samples::Setting &setting);
/// By hand, structure of arrays (cells.cl).
std::unique_ptr<samples::Game> play_cells(const kma::Device &device, const Rules &rules,
                                          const samples::Setting &setting);

/// After so many steps on the host, one agent after the other.
Grid reference(const Rules &rules, std::uint32_t steps);

} // namespace sugarscape
