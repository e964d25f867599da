// The torus, its rules' numbers, and what may be in a cell.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "simulation/simulation.hpp"

namespace wator {

/// The rules' numbers (rules.cl).
struct Rules {
    std::uint32_t width = 256, height = 256;
    std::uint32_t seed = 42;
    std::uint32_t fish_spawn = 4, shark_spawn = 4; ///< ages from which who moves leaves a child
    std::uint32_t energy_start = 2, energy_boost = 4;
    std::uint32_t fish_share = 64, shark_share = 64; ///< of 256 cells at the beginning

    std::uint32_t cells() const { return width * height; }
    /// As the device's program has them.
    std::string defines() const;
};

enum class Who : std::uint8_t { nobody, fish, shark };

/// What is in a cell. Of a fish, energy is 0 here.
struct Cell {
    Who who = Who::nobody;
    std::uint8_t age = 0, energy = 0;
    bool operator==(const Cell &) const = default;
};
using Grid = std::vector<Cell>; ///< row by row from the north

/// How many there are of each.
samples::Numbers population_of(const Grid &grid);

/// With objects (wator.cl).
std::unique_ptr<samples::Game> play_objects(const kma::Device &device, const Rules &rules,
                                            const samples::Setting &setting);
/// By hand, structure of arrays (cells.cl).
std::unique_ptr<samples::Game> play_cells(const kma::Device &device, const Rules &rules,
                                          const samples::Setting &setting);
/// With structures in a slab heap (pointers.cl).
std::unique_ptr<samples::Game> play_pointers(const kma::Device &device, const Rules &rules,
                                             const samples::Setting &setting);

} // namespace wator
