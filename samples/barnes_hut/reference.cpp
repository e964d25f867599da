// The same simulation on the host, written from the rules, not from the kernels: in double
// precision, with a tree of vectors, built by recursion.
#include <algorithm>
#include <cmath>

#include "common/mix32.hpp"
#include "space.hpp"

namespace barnes_hut {
namespace {

Vector operator-(const Vector &one, const Vector &other)
{
    return {one[0] - other[0], one[1] - other[1], one[2] - other[2]};
}

double squared(const Vector &v)
{
    return v[0] * v[0] + v[1] * v[1] + v[2] * v[2];
}

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
        const std::uint64_t key = ((std::uint64_t{i} << 30) + (chance(0) >> 2)) / space.bodies;
        Body body = {i, space.max_mass * (0.5 + 0.5 * drawn(7)), {}, {}};
        for (std::uint32_t axis = 0; axis < 3; axis++) {
            std::uint32_t box = 0;
            for (std::uint32_t bit = 0; bit < 10; bit++)
                box += static_cast<std::uint32_t>(key >> (3 * bit + axis) & 1) << bit;
            const double even = (box + drawn(1 + axis)) / 512 - 1;
            body.place[axis] = space.spread * even * std::abs(even);
            body.velocity[axis] = space.speed * (drawn(4 + axis) - 0.5);
        }
        body.velocity[0] -= space.spin * body.place[1];
        body.velocity[1] += space.spin * body.place[0];
        bodies.push_back(body);
    }
    return bodies;
}

// Returns the grid coordinate in single precision, as a device does: both agree on all places in
// single precision.
std::uint32_t on_grid(double place, std::uint32_t depth)
{
    const float points = static_cast<float>(1u << depth);
    return static_cast<std::uint32_t>(
        std::min((static_cast<float>(place) + 1) / 2 * points, points - 1));
}

// A cell and its contents.
class Tree {
public:
    Tree(const std::vector<const Body *> &bodies, const Space &space, std::uint32_t level = 0,
         std::array<std::uint32_t, 3> corner = {})
        : space_(space), cell_{level, corner, static_cast<std::uint32_t>(bodies.size()), {}, 0, {}}
    {
        std::array<std::vector<const Body *>, 8> octants;
        for (const Body *body : bodies) {
            std::uint32_t octant = 0;
            for (std::uint32_t axis = 0; axis < 3; axis++) {
                octant |= (on_grid(body->place[axis], space.depth) >> (space.depth - 1 - level) & 1)
                          << axis;
                cell_.centre[axis] += body->mass * body->place[axis];
            }
            octants[octant].push_back(body);
            cell_.mass += body->mass;
        }
        for (double &axis : cell_.centre)
            axis /= cell_.mass;
        for (std::uint32_t octant = 0; octant < 8; octant++)
            if (octants[octant].size() > 1 && level + 1 < space.depth)
                smaller_.emplace_back(octants[octant], space, level + 1,
                                      std::array{corner[0] << 1 | (octant & 1),
                                                 corner[1] << 1 | (octant >> 1 & 1),
                                                 corner[2] << 1 | octant >> 2});
            else
                own_.insert(own_.end(), octants[octant].begin(), octants[octant].end());
        for (const Body *body : own_)
            cell_.own.push_back(body->number);
    }
    void list(Cells &into) const
    {
        into.push_back(cell_);
        for (const Tree &tree : smaller_)
            tree.list(into);
    }
    void attract(const Vector &place, Vector &sum) const
    {
        for (const Body *body : own_)
            add(place, body->place, body->mass, sum);
        for (const Tree &tree : smaller_) {
            const double width = 2.0 / (1u << tree.cell_.level);
            if (width < space_.theta * std::sqrt(squared(tree.cell_.centre - place)))
                add(place, tree.cell_.centre, tree.cell_.mass, sum);
            else
                tree.attract(place, sum);
        }
    }
    void add(const Vector &place, const Vector &other, double mass, Vector &sum) const
    {
        const Vector way = other - place;
        const double strength =
            space_.gravity * mass / std::pow(squared(way) + space_.damping, 1.5);
        for (std::uint32_t axis = 0; axis < 3; axis++)
            sum[axis] += strength * way[axis];
    }

private:
    const Space &space_;
    Cell cell_;
    std::vector<const Body *> own_;
    std::vector<Tree> smaller_;
};

Tree tree_over(const Bodies &bodies, const Space &space)
{
    std::vector<const Body *> all;
    for (const Body &body : bodies)
        all.push_back(&body);
    return Tree(all, space);
}

void move(Body &body, const Vector &acceleration, const Space &space)
{
    for (std::uint32_t axis = 0; axis < 3; axis++) {
        double &at = body.place[axis], &speed = body.velocity[axis];
        speed += space.time_step * acceleration[axis];
        at += space.time_step * speed;
        if (std::abs(at) > 1) {
            at = std::clamp((at > 0 ? 2 : -2) - at, -1.0, 1.0);
            speed = -speed;
        }
    }
}

} // namespace

Cells cells_over(const Bodies &bodies, const Space &space)
{
    State state;
    tree_over(bodies, space).list(state.cells);
    sort(state);
    return state.cells;
}

Bodies reference(const Space &space, std::uint32_t steps)
{
    Bodies bodies = at_first(space);
    for (std::uint32_t step = 0; step < steps; step++) {
        const Bodies before = bodies;
        const Tree tree = tree_over(before, space);
        for (Body &body : bodies) {
            Vector acceleration = {};
            tree.attract(body.place, acceleration);
            move(body, acceleration, space);
        }
    }
    return bodies;
}

double force_error(const Bodies &bodies, const Space &space)
{
    const Tree tree = tree_over(bodies, space);
    const std::size_t sample = std::max<std::size_t>(1, bodies.size() / 256);
    double wrong = 0, right = 0;
    for (std::size_t i = 0; i < bodies.size(); i += sample) {
        Vector by_tree = {}, by_pairs = {};
        tree.attract(bodies[i].place, by_tree);
        for (const Body &other : bodies)
            tree.add(bodies[i].place, other.place, other.mass, by_pairs);
        wrong += squared(by_tree - by_pairs);
        right += squared(by_pairs);
    }
    return right > 0 ? std::sqrt(wrong / right) : 0;
}

} // namespace barnes_hut
