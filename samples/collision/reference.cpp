// The same simulation on the host, written from the rules, not from the kernels: in double
// precision, each pair once, and mergers from a list of near pairs.
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "common/mix32.hpp"
#include "space.hpp"

namespace collision {
namespace {

Bodies at_first(const Space &space)
{
    Bodies bodies;
    for (std::uint32_t i = 0; i < space.bodies; i++) {
        const auto chance = [&](std::uint32_t purpose) {
            return samples::mix32(space.seed + 8 * i + purpose);
        };
        const auto drawn = [&](std::uint32_t purpose) {
            return (chance(purpose) >> 8) / 16777216.0;
        };
        const double width = space.speed,
                     mass = space.max_mass - chance(4) % ((space.max_mass + 1) / 2);
        bodies.push_back({i, mass, 2 * drawn(0) - 1, 2 * drawn(1) - 1, width * (drawn(2) - 0.5),
                          width * (drawn(3) - 0.5)});
    }
    return bodies;
}

bool outweighs(const Body &one, const Body &other)
{
    return one.mass != other.mass ? one.mass > other.mass : one.number < other.number;
}

class Simulation {
public:
    explicit Simulation(const Space &space) : space_(space), bodies_(at_first(space)) {}
    void step()
    {
        near_.clear();
        for (std::size_t i = 0; i < bodies_.size(); i++)
            for (std::size_t k = 0; k < i; k++)
                meet(bodies_[i], bodies_[k]);
        merge();
        for (Body &body : bodies_) {
            advance(body.x, body.vx);
            advance(body.y, body.vy);
        }
    }
    Outcome outcome() const { return {bodies_, closest_call_ / double{space_.merge_distance}}; }

private:
    // Changes velocities at once: only places decide, and they do not change here.
    void meet(Body &one, Body &other)
    {
        const double dx = other.x - one.x, dy = other.y - one.y,
                     distance = std::sqrt(dx * dx + dy * dy), limit = space_.merge_distance;
        closest_call_ = std::min(closest_call_, std::abs(distance - limit));
        if (distance < limit)
            near_.push_back(outweighs(one, other) ? std::pair(&one, &other)
                                                  : std::pair(&other, &one));
        if (distance == 0)
            return; // no direction
        const double change = double{space_.time_step} * double{space_.gravity} /
                              ((distance * distance + double{space_.damping}) * distance);
        one.vx += change * other.mass * dx;
        one.vy += change * other.mass * dy;
        other.vx -= change * one.mass * dx;
        other.vy -= change * one.mass * dy;
    }
    void merge()
    {
        // for each body the heaviest of its heavier, and of its lighter neighbours
        std::map<Body *, Body *> above, below;
        const auto note = [](std::map<Body *, Body *> &best, Body *of, Body *candidate) {
            Body *&now = best.emplace(of, candidate).first->second;
            now = outweighs(*candidate, *now) ? candidate : now;
        };
        for (const auto &[heavy, light] : near_) {
            note(above, light, heavy);
            note(below, heavy, light);
        }
        std::vector<std::uint32_t> gone;
        for (const auto &[heavy, light] : below) {
            if (above.count(heavy) != 0 || above.at(light) != heavy)
                continue;
            const double mass = heavy->mass + light->mass;
            const auto join = [&](double Body::*what) {
                heavy->*what = (heavy->mass * heavy->*what + light->mass * light->*what) / mass;
            };
            for (double Body::*what : {&Body::x, &Body::y, &Body::vx, &Body::vy})
                join(what);
            heavy->mass = mass;
            gone.push_back(light->number);
        }
        std::erase_if(bodies_, [&](const Body &body) {
            return std::find(gone.begin(), gone.end(), body.number) != gone.end();
        });
    }
    void advance(double &at, double &speed) const
    {
        at += double{space_.time_step} * speed;
        if (std::abs(at) <= 1)
            return;
        at = (at > 0 ? 2 : -2) - at;
        speed = -speed;
    }

    Space space_;
    Bodies bodies_;
    std::vector<std::pair<Body *, Body *>> near_; // the heavier one first
    double closest_call_ = std::numeric_limits<double>::infinity();
};

} // namespace

Outcome reference(const Space &space, std::uint32_t steps)
{
    Simulation simulation(space);
    for (std::uint32_t step = 0; step < steps; step++)
        simulation.step();
    return simulation.outcome();
}

} // namespace collision
