// The same simulation on the host, written from the rules, not from the kernels: springs add forces
// to their ends, and torn springs are removed at once.
#include <algorithm>
#include <cmath>
#include <queue>

#include "mesh.hpp"

namespace structure {
namespace {

class Simulation {
public:
    explicit Simulation(const Rules &rules) : rules_(rules), state_(rules)
    {
        for (std::uint32_t number = 0; number < rules.cells(); number++) {
            const std::int32_t x = static_cast<std::int32_t>(number % rules.width),
                               y = static_cast<std::int32_t>(number / rules.width);
            if (is_pulled(number) || is_anchor(number) ||
                chance(rules, number, Purpose::whether_missing) % 1024 >= rules.missing_nodes)
                state_.nodes[number] = {true, x * length + y % 2 * (length / 2), y * row, 0,
                                        is_pulled(number) ? way_of_pulled() : 0};
        }
        for (std::uint32_t number = 0; number < rules.springs(); number++) {
            const std::uint32_t begin = number % rules.cells(), end = end_of(rules, number);
            if (!state_.nodes[begin].exists || end == nowhere || !state_.nodes[end].exists)
                continue;
            state_.springs[number].exists = true;
            const std::int64_t stiffness =
                256 - std::int64_t{rules.spread} +
                chance(rules, number, Purpose::how_stiff) % (2 * rules.spread + 1);
            joints_.push_back(
                {number, begin, end, distance(begin, end), stiffness, strength_of(rules, number)});
        }
    }
    void step()
    {
        for (std::uint32_t number = 0; number < rules_.width; number++)
            state_.nodes[number].y = shifted(state_.nodes[number].y, way_of_pulled());
        for (std::uint32_t i = 0; i < rules_.relaxations; i++)
            relax();
        remove_what_is_loose();
    }
    const State &state() const { return state_; }

private:
    struct Joint { // a spring's constants
        std::uint32_t number, begin, end;
        std::int64_t rest, stiffness, strength;
    };
    struct Vector {
        std::int64_t x = 0, y = 0;
    };

    bool is_pulled(std::uint32_t node) const { return node < rules_.width; }
    bool is_anchor(std::uint32_t node) const { return node / rules_.width == rules_.height - 1; }
    std::int32_t way_of_pulled() const { return -static_cast<std::int32_t>(unit * rules_.pull); }
    static std::int32_t shifted(std::int32_t place, std::int64_t way)
    {
        return static_cast<std::int32_t>(
            std::clamp<std::int64_t>(place + way, INT32_MIN, INT32_MAX));
    }
    Vector way(std::uint32_t from, std::uint32_t to) const
    {
        const Node &a = state_.nodes[from], &b = state_.nodes[to];
        return {std::int64_t{b.x} - a.x, std::int64_t{b.y} - a.y};
    }
    // Double precision is exact enough to round these roots down.
    std::int64_t distance(std::uint32_t from, std::uint32_t to) const
    {
        const Vector there = way(from, to);
        return static_cast<std::int64_t>(
            std::sqrt(static_cast<double>(there.x * there.x + there.y * there.y)));
    }
    void relax()
    {
        std::vector<Vector> sums(state_.nodes.size());
        std::erase_if(joints_, [&](const Joint &joint) { return tears(joint, sums); });
        for (std::uint32_t number = 0; number < rules_.cells(); number++)
            if (state_.nodes[number].exists && !is_pulled(number) && !is_anchor(number))
                move(state_.nodes[number], sums[number]);
    }
    bool tears(const Joint &joint, std::vector<Vector> &sums)
    {
        const Vector there = way(joint.begin, joint.end);
        const std::int64_t now = std::max(std::abs(there.x), std::abs(there.y)) < 32768
                                     ? distance(joint.begin, joint.end)
                                     : INT32_MAX;
        const std::int64_t pull = (now - joint.rest) * joint.stiffness / 256;
        Spring &spring = state_.springs[joint.number];
        if (now == INT32_MAX || pull > joint.strength) {
            spring = {};
            return true;
        }
        const Vector force =
            now == 0 ? Vector{} : Vector{pull * there.x / now, pull * there.y / now};
        spring = {true, static_cast<std::int32_t>(force.x), static_cast<std::int32_t>(force.y)};
        sums[joint.begin] = {sums[joint.begin].x + force.x, sums[joint.begin].y + force.y};
        sums[joint.end] = {sums[joint.end].x - force.x, sums[joint.end].y - force.y};
        return false;
    }
    void move(Node &node, Vector force) const
    {
        node.vx = changed(node.vx, force.x);
        node.vy = changed(node.vy, force.y);
        node.x = shifted(node.x, (node.vx + 128) >> 8);
        node.y = shifted(node.y, (node.vy + 128) >> 8);
    }
    std::int32_t changed(std::int64_t velocity, std::int64_t force) const
    {
        const std::int64_t fastest = std::int64_t{256} * length / 4;
        velocity = std::clamp(velocity + 256 * force / rules_.mass, -fastest, fastest);
        return static_cast<std::int32_t>(velocity - velocity * rules_.friction / 1024);
    }
    void remove_what_is_loose()
    {
        std::vector<std::vector<std::uint32_t>> neighbours(state_.nodes.size());
        for (const Joint &joint : joints_) {
            neighbours[joint.begin].push_back(joint.end);
            neighbours[joint.end].push_back(joint.begin);
        }
        std::vector<bool> is_held(state_.nodes.size());
        std::queue<std::uint32_t> open;
        const auto reach = [&](std::uint32_t number) {
            if (!is_held[number])
                open.push(number);
            is_held[number] = true;
        };
        for (std::uint32_t number = 0; number < rules_.cells(); number++)
            if (is_pulled(number) || is_anchor(number))
                reach(number);
        for (; !open.empty(); open.pop())
            std::for_each(neighbours[open.front()].begin(), neighbours[open.front()].end(), reach);
        for (std::uint32_t number = 0; number < rules_.cells(); number++)
            if (!is_held[number])
                state_.nodes[number] = {};
        std::erase_if(joints_, [&](const Joint &joint) {
            if (!is_held[joint.begin])
                state_.springs[joint.number] = {};
            return !is_held[joint.begin];
        });
    }

    Rules rules_;
    State state_;
    std::vector<Joint> joints_; // springs that are not torn
};

} // namespace

State reference(const Rules &rules, std::uint32_t steps)
{
    Simulation simulation(rules);
    for (std::uint32_t step = 0; step < steps; step++)
        simulation.step();
    return simulation.state();
}

} // namespace structure
