// The same simulation on the host, in double precision and in another order.
#include <cmath>

#include "bodies.hpp"
#include "common/defines.hpp"
#include "common/mix32.hpp"

namespace nbody {
namespace {

struct Exact {
    double x, y, vx, vy, fx, fy, mass;
};

double drawn(const Space &space, std::uint32_t number, std::uint32_t purpose)
{
    return (samples::mix32(space.seed + 4 * number + purpose) >> 8) / 16777216.0;
}

// Visits each pair once: the two forces are opposite.
void attract(std::vector<Exact> &bodies, const Space &space)
{
    for (Exact &body : bodies)
        body.fx = body.fy = 0;
    for (std::size_t i = 0; i < bodies.size(); i++)
        for (std::size_t k = 0; k < i; k++) {
            Exact &one = bodies[i], &other = bodies[k];
            const double dx = other.x - one.x, dy = other.y - one.y,
                         square = dx * dx + dy * dy + double{space.damping};
            const double strength = double{space.gravity} / (square * std::sqrt(square));
            one.fx += strength * other.mass * dx;
            one.fy += strength * other.mass * dy;
            other.fx -= strength * one.mass * dx;
            other.fy -= strength * one.mass * dy;
        }
}

} // namespace

std::string Space::defines() const
{
    using samples::define;
    return define("BODIES", bodies) + define("SEED", seed) + define("GRAVITY", gravity) +
           define("TIME_STEP", time_step) + define("DAMPING", damping);
}

Bodies reference(const Space &space, std::uint32_t steps)
{
    std::vector<Exact> bodies;
    for (std::uint32_t i = 0; i < space.bodies; i++)
        bodies.push_back({2 * drawn(space, i, 0) - 1, 2 * drawn(space, i, 1) - 1, 0, 0, 0, 0,
                          500 + 500 * drawn(space, i, 2)});
    const double dt = double{space.time_step};
    for (std::uint32_t step = 0; step < steps; step++) {
        attract(bodies, space);
        for (Exact &body : bodies) {
            body.vx += dt * body.fx;
            body.vy += dt * body.fy;
            body.x += dt * body.vx;
            body.y += dt * body.vy;
            body.vx = std::abs(body.x) > 1 ? -body.vx : body.vx;
            body.vy = std::abs(body.y) > 1 ? -body.vy : body.vy;
        }
    }
    Bodies made;
    for (const Exact &body : bodies)
        made.push_back({static_cast<float>(body.x), static_cast<float>(body.y),
                        static_cast<float>(body.vx), static_cast<float>(body.vy),
                        static_cast<float>(body.mass)});
    return made;
}

Checksum checksum(const Bodies &bodies)
{
    Checksum sum;
    for (const Body &body : bodies) {
        const double x = body.x, y = body.y, vx = body.vx, vy = body.vy, mass = body.mass;
        sum.x += x;
        sum.y += y;
        sum.spread += x * x + y * y;
        sum.impulse_x += mass * vx;
        sum.impulse_y += mass * vy;
        sum.energy += mass * (vx * vx + vy * vy) / 2;
    }
    return sum;
}

} // namespace nbody
