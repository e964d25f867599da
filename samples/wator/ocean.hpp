// The torus, its rules' numbers, and what may be in a cell.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "common/plain_program.hpp"

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

struct Population {
    std::uint64_t fish = 0, sharks = 0;
    bool operator==(const Population &) const = default;
};
Population population_of(const Grid &grid);

/// One way to play it on a device. Steps are enqueued; grid() and population() wait for them.
class Game {
public:
    virtual ~Game() = default;
    virtual const char *name() const = 0;
    virtual void step(std::uint32_t number) = 0; ///< from 0 on, one after the other
    virtual Population population() = 0;
    virtual Grid grid() = 0;
    /// Agents that were not born for want of memory.
    virtual std::uint64_t unborn() { return 0; }
    /// Of slots in blocks those that are empty, where there are such.
    virtual double fragmentation() { return 0; }
    /// What is wrong, in sentences.
    virtual std::vector<std::string> faults() { return {}; }
    /// Of all kernels since the last call.
    virtual samples::Times times() = 0;
};

/// With objects (wator.cl), in a world of so many bytes; 0: enough for every cell.
std::unique_ptr<Game> play_objects(const kma::Device &device, const Rules &rules, std::uint64_t bytes, const std::string &build_options, bool debug);
/// By hand, structure of arrays (cells.cl).
std::unique_ptr<Game> play_cells(const kma::Device &device, const Rules &rules);
/// With structures in a slab heap (pointers.cl).
std::unique_ptr<Game> play_pointers(const kma::Device &device, const Rules &rules, std::uint64_t bytes);

} // namespace wator
