// The grid, what lives on it at first, and who is where.
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
    std::uint32_t seed = 42;       ///< of soup and guns
    std::uint32_t soup_share = 96; ///< of 256 cells
    std::uint32_t guns = 8;

    std::uint32_t cells() const { return width * height; }
    /// As the device's program has them.
    std::string defines() const;
};

using Cells = std::vector<std::uint32_t>; ///< places of those that live, y * width + x each

/// Those at the beginning. Throws kma::Error if the pattern does not fit, or its file is none of a
/// pattern.
Cells first_cells(const Rules &rules);

enum class Who : std::uint8_t { nobody, candidate, alive };
using Board = std::vector<Who>; ///< for each cell who is there, row by row from the north

/// A candidate is a dead cell that has a live neighbour, or a step before had one or lived.
Board board_of(const Rules &rules, const Cells &live, const Cells &before);
samples::Numbers population_of(const Board &board);

/// With objects (life.cl).
std::unique_ptr<samples::Game> play_objects(const kma::Device &device, const Rules &rules,
                                            const samples::Setting &setting);
/// By hand, all cells (cells.cl).
std::unique_ptr<samples::Game> play_cells(const kma::Device &device, const Rules &rules,
                                          const samples::Setting &setting);

} // namespace game_of_life
