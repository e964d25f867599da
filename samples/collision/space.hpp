// Bodies on a plane, and what plays them.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "simulation/simulation.hpp"

namespace collision {

/// The rules' numbers (rules.cl).
struct Space {
    std::uint32_t bodies = 2000;
    std::uint32_t seed = 42;
    std::uint32_t max_mass = 75; ///< of a body at first; the least is half of it
    float merge_distance = 0.01f;
    float gravity = 1e-7f, time_step = 0.1f, damping = 0.05f;
    float speed = 0.001f; ///< width of the range of first velocities
    /// As the device's program has them.
    std::string defines() const;
};

struct Body {
    std::uint32_t number; ///< from 0 on, as they were at first
    double mass, x, y, vx, vy;
};
using Bodies = std::vector<Body>; ///< by number

/// What the host's own simulation comes to.
struct Outcome {
    Bodies bodies;
    /// how near to the distance at which bodies merge any pair was in any step, as a share of that
    double closest_call;
};
/// So many steps on the host, in double precision.
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
