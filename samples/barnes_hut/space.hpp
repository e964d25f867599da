// Bodies in space, the tree over them, and what plays them.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "common/differences.hpp"
#include "simulation/simulation.hpp"

namespace barnes_hut {

/// The rules' numbers (rules.cl).
struct Space {
    std::uint32_t bodies = 4000;
    std::uint32_t seed = 42;
    std::uint32_t depth = 20; ///< levels of the tree
    /// a cell's width through its distance, from which on it is asked for its octants
    float theta = 0.5f;
    float gravity = 1e-7f, time_step = 0.02f, damping = 1e-3f;
    float max_mass = 1000;                       ///< of a body; each has half of it at least
    float speed = 0.1f, spin = 0.4f, spread = 1; ///< of bodies at first
    /// As the device's program has them.
    std::string defines() const;
};

using Vector = std::array<double, 3>;

struct Body {
    std::uint32_t number; ///< from 0 on
    double mass;
    Vector place, velocity;
};
using Bodies = std::vector<Body>; ///< by number

struct Cell {
    std::uint32_t level;                 ///< 0: the root
    /// the one near (-1, -1, -1), counted in cells of this level
    std::array<std::uint32_t, 3> corner;
    std::uint32_t bodies;                ///< in it
    /// numbers of those that are in no smaller cell, ascending
    std::vector<std::uint32_t> own;
    double mass;                         ///< of all in it
    Vector centre;                       ///< of mass
};
using Cells = std::vector<Cell>; ///< by level and corner

/// All that a version has, to be compared.
struct State {
    Bodies bodies;
    Cells cells;
    std::uint32_t lost = 0; ///< cells that the root does not lead to
};
/// In the order that is promised above.
void sort(State &state);

/// With objects (barnes_hut.cl). Versions: "objects", and "rebuilt".
std::unique_ptr<samples::Game> play_objects(const kma::Device &device, const Space &space,
                                            const samples::Setting &setting);
/// By hand, structure of arrays (arrays.cl).
std::unique_ptr<samples::Game> play_arrays(const kma::Device &device, const Space &space,
                                           const samples::Setting &setting);

/// The tree's cells over bodies at these places.
Cells cells_over(const Bodies &bodies, const Space &space);
/// So many steps on the host, in double precision.
Bodies reference(const Space &space, std::uint32_t steps);
/// The root of the mean square of what the tree's forces are wrong by, as a share of that of the
/// forces by all pairs: over a sample of bodies.
double force_error(const Bodies &bodies, const Space &space);

} // namespace barnes_hut
