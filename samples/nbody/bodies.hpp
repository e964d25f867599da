// Bodies on a plane, and what plays them.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "common/plain_program.hpp"

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
Checksum checksum(const std::vector<Body> &bodies);

/// One way to play it on a device. Steps are enqueued; bodies() waits for them.
class Game {
public:
    virtual ~Game() = default;
    virtual void step() = 0;
    virtual std::vector<Body> bodies() = 0; ///< in any order
    virtual std::vector<std::string> faults() { return {}; }
    virtual samples::Times times() = 0;
};
std::unique_ptr<Game> play_objects(const kma::Device &device, const Space &space, std::uint64_t bytes);
std::unique_ptr<Game> play_arrays(const kma::Device &device, const Space &space);
std::unique_ptr<Game> play_pointers(const kma::Device &device, const Space &space, std::uint64_t bytes);

/// So many steps on the host, in double precision.
std::vector<Body> reference(const Space &space, std::uint32_t steps);

} // namespace nbody
