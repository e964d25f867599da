// The grid, its first live cells, and the contents of each cell.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "simulation/simulation.hpp"

namespace game_of_life {

struct Rules {
    std::uint32_t width = 256, height = 256;
    std::string pattern = "soup";  ///< or "guns", or a file
    std::uint32_t seed = 42;       ///< for soup and guns
    std::uint32_t soup_share = 96; ///< live cells of 256
    std::uint32_t guns = 8;

    std::uint32_t cells() const { return width * height; }
    /// Returns the build options that define them for the device's program.
    std::string defines() const;
};

using Cells = std::vector<std::uint32_t>; ///< positions of live cells, y * width + x

/// Returns the first live cells. Throws kma::Error if the pattern does not fit, or if its file is
/// not a pattern.
Cells first_cells(const Rules &rules);

enum class Kind : std::uint8_t { none, candidate, alive };
using Board = std::vector<Kind>; ///< the contents of each cell, row by row from the north

/// Returns the board. A candidate is a dead cell that has a live neighbour, or that one step before
/// had one or was alive.
Board board_of(const Rules &rules, const Cells &live, const Cells &before);
samples::Numbers population_of(const Board &board);

/// With objects (life.cl).
std::unique_ptr<samples::Game> play_objects(const kma::Device &device, const Rules &rules,
                                            const samples::Setting &setting);
/// By hand, all cells (cells.cl).
std::unique_ptr<samples::Game> play_cells(const kma::Device &device, const Rules &rules,
                                          const samples::Setting &setting);

} // namespace game_of_life
