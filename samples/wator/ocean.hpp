// The torus, the rules' constants, and the contents of a cell.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "simulation/simulation.hpp"

namespace wator {

/// The rules' constants (rules.cl).
struct Rules {
    std::uint32_t width = 256, height = 256;
    std::uint32_t seed = 42;
    std::uint32_t fish_spawn = 4, shark_spawn = 4; ///< ages from which a move leaves a child
    std::uint32_t energy_start = 2, energy_boost = 4;
    std::uint32_t fish_share = 64, shark_share = 64; ///< of 256 cells, at the start

    std::uint32_t cells() const { return width * height; }
    std::uint32_t fours() const { return (cells() + 3) / 4; }
    /// Returns the build options that define them for the device's program.
    std::string defines() const;
};

enum class Kind : std::uint8_t { none, fish, shark };

/// The contents of a cell. The energy of a fish is 0 here.
struct Cell {
    Kind kind = Kind::none;
    std::uint8_t age = 0, energy = 0;
    bool operator==(const Cell &) const = default;
};
using Grid = std::vector<Cell>; ///< row by row from the north

/// Returns the number of fish and of sharks.
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
