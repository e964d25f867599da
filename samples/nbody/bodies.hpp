// Bodies in a plane, and the versions of the simulation.
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
    /// Returns the build options that define them for the device's program.
    std::string defines() const;
};

/// A body's position, velocity and mass.
struct Body {
    float x, y, vx, vy, mass;
};

/// Sums that do not depend on the order of the bodies.
struct Checksum {
    double x = 0, y = 0;         ///< sums of coordinates
    double spread = 0;           ///< sum of their squares
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

/// Returns the bodies after `steps` steps on the host, in double precision.
Bodies reference(const Space &space, std::uint32_t steps);

} // namespace nbody
