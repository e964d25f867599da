// Bodies in space, the tree over them, and the versions of the simulation.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "common/differences.hpp"
#include "simulation/simulation.hpp"

namespace barnes_hut {

/// The rules' constants (rules.cl).
struct Space {
    std::uint32_t bodies = 4000;
    std::uint32_t seed = 42;
    std::uint32_t depth = 20; ///< levels of the tree
    /// a cell is entered if its width / distance exceeds this
    float theta = 0.5f;
    float gravity = 1e-7f, time_step = 0.02f, damping = 1e-3f;
    float max_mass = 1000;                       ///< largest mass; the smallest is half of it
    float speed = 0.1f, spin = 0.4f, spread = 1; ///< of the bodies at the start
    /// Returns the build options that define them for the device's program.
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
    /// the corner nearest to (-1, -1, -1), in units of this level's cells
    std::array<std::uint32_t, 3> corner;
    std::uint32_t bodies;                ///< number of bodies in it
    /// numbers of the bodies that are in no smaller cell, ascending
    std::vector<std::uint32_t> own;
    double mass;                         ///< of all bodies in it
    Vector centre;                       ///< of mass
};
using Cells = std::vector<Cell>; ///< by level and corner

/// The complete state of a version, for comparison.
struct State {
    Bodies bodies;
    Cells cells;
    std::uint32_t lost = 0; ///< cells that are not reachable from the root
};
/// Sorts bodies and cells into the order given above.
void sort(State &state);

/// With objects (barnes_hut.cl). Versions: "objects", and "rebuilt".
std::unique_ptr<samples::Game> play_objects(const kma::Device &device, const Space &space,
                                            const samples::Setting &setting);
/// By hand, structure of arrays (arrays.cl).
std::unique_ptr<samples::Game> play_arrays(const kma::Device &device, const Space &space,
                                           const samples::Setting &setting);

/// Returns the tree's cells over bodies at these places.
Cells cells_over(const Bodies &bodies, const Space &space);
/// Returns the bodies after `steps` steps on the host, in double precision.
Bodies reference(const Space &space, std::uint32_t steps);
/// Returns the root mean square of the error of the tree's forces, relative to that of the forces
/// by all pairs, for a sample of bodies.
double force_error(const Bodies &bodies, const Space &space);

} // namespace barnes_hut
