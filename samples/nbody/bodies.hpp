// Bodies on a plane, and what plays them.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "simulation/simulation.hpp"

namespace nbody {

struct Space {
    std::uint32_t bodies = 2000;
    std::uint32_t seed = 42;
    float gravity = 1e-9f, time_step = 0.02f, damping = 1e-5f;
    /// As the device's program has them.
    std::string defines() const;
};

/// A body's place and velocity.
struct Body {
    float x, y, vx, vy, mass;
};

/// Numbers that do not depend on the order of bodies.
struct Checksum {
    double x = 0, y = 0;         ///< sums of places
    double spread = 0;           ///< of their squares
    double impulse_x = 0, impulse_y = 0, energy = 0;
};
using Bodies = std::vector<Body>; ///< in any order
Checksum checksum(const Bodies &bodies);

/// With objects (bodies.cl).
std::unique_ptr<samples::Game> play_objects(const kma::Device &device, const Space &space,
                                            const samples::Setting &setting);
/// By hand, in arrays (plain.cl).
std::unique_ptr<samples::Game> play_arrays(const kma::Device &device, const Space &space,
                                           const samples::Setting &setting);
/// With structures in a slab heap (plain.cl).
std::unique_ptr<samples::Game> play_pointers(const kma::Device &device, const Space &space,
                                             const samples::Setting &setting);

/// So many steps on the host, in double precision.
Bodies reference(const Space &space, std::uint32_t steps);

} // namespace nbody
