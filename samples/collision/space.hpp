// Bodies in a plane, and the versions of the simulation.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "simulation/simulation.hpp"

namespace collision {

/// The rules' constants (rules.cl).
struct Space {
    std::uint32_t bodies = 2000;
    std::uint32_t seed = 42;
    std::uint32_t max_mass = 75; ///< at the start; the smallest is half of it
    float merge_distance = 0.01f;
    float gravity = 1e-7f, time_step = 0.1f, damping = 0.05f;
    float speed = 0.001f; ///< width of the range of initial velocities
    /// Returns the build options that define them for the device's program.
    std::string defines() const;
};

struct Body {
    std::uint32_t number; ///< number at the start, from 0
    double mass, x, y, vx, vy;
};
using Bodies = std::vector<Body>; ///< by number

/// The result of the host's own simulation.
struct Outcome {
    Bodies bodies;
    /// the least difference of any pair's distance from the merge distance in any step, relative to
    /// it
    double closest_call;
};
/// Returns the outcome of `steps` steps on the host, in double precision.
Outcome reference(const Space &space, std::uint32_t steps);

/// With objects (collision.cl).
std::unique_ptr<samples::Game> play_objects(const kma::Device &device, const Space &space,
                                            const samples::Setting &setting);
/// By hand, structure of arrays (arrays.cl).
std::unique_ptr<samples::Game> play_arrays(const kma::Device &device, const Space &space,
                                           const samples::Setting &setting);
/// With structures in a slab heap (pointers.cl).
std::unique_ptr<samples::Game> play_pointers(const kma::Device &device, const Space &space,
                                             const samples::Setting &setting);

} // namespace collision
