// Wa-Tor on a grid, written from the rules, not from the kernels: first all requests, then all
// moves.
#include "reference.hpp"

#include <algorithm>
#include <array>

#include "common/mix32.hpp"

namespace wator {
namespace {

enum Purpose : std::uint32_t { first_agent, first_age, where_to, which_to_take };

std::uint32_t draw(const Rules &rules, std::uint32_t phase, std::uint32_t cell, Purpose purpose)
{
    return samples::mix32(samples::mix32(rules.seed + phase * 4 + purpose) ^ cell);
}

// North, east, south, west.
std::array<std::uint32_t, 4> around(const Rules &rules, std::uint32_t cell)
{
    const std::uint32_t w = rules.width, h = rules.height, x = cell % w, y = cell / w;
    return {(y + h - 1) % h * w + x, y * w + (x + 1) % w, (y + 1) % h * w + x,
            y * w + (x + w - 1) % w};
}

} // namespace

Reference::Reference(const Rules &rules) : rules_(rules), grid_(rules.cells())
{
    for (std::uint32_t cell = 0; cell < rules.cells(); cell++) {
        const std::uint32_t lot = draw(rules, 0, cell, first_agent) % 256,
                            age = draw(rules, 0, cell, first_age);
        if (lot < rules.fish_share)
            grid_[cell] = {Kind::fish, static_cast<std::uint8_t>(age % rules.fish_spawn), 0};
        else if (lot < rules.fish_share + rules.shark_share)
            grid_[cell] = {Kind::shark, static_cast<std::uint8_t>(age % rules.shark_spawn),
                           static_cast<std::uint8_t>(rules.energy_start)};
    }
}

void Reference::step(std::uint32_t number)
{
    phase(Kind::fish, 2 * number + 1);
    phase(Kind::shark, 2 * number + 2);
}

void Reference::phase(Kind kind, std::uint32_t number)
{
    const std::uint32_t none = ~0u;
    std::vector<std::array<std::uint32_t, 4>> asked(grid_.size(), {none, none, none, none});
    std::vector<std::uint32_t> starved;
    for (std::uint32_t cell = 0; cell < grid_.size(); cell++) {
        Cell &self = grid_[cell];
        if (self.kind != kind)
            continue;
        self.age = static_cast<std::uint8_t>(std::min(self.age + 1, 255));
        if (kind == Kind::shark && --self.energy == 0) {
            starved.push_back(cell);
            continue;
        }
        std::vector<std::uint32_t> open, prey;
        const auto near = around(rules_, cell);
        for (std::uint32_t direction = 0; direction < 4; direction++) {
            if (grid_[near[direction]].kind == Kind::none)
                open.push_back(direction);
            if (kind == Kind::shark && grid_[near[direction]].kind == Kind::fish)
                prey.push_back(direction);
        }
        const std::vector<std::uint32_t> &wanted = prey.empty() ? open : prey;
        if (wanted.empty())
            continue;
        const std::uint32_t direction =
            wanted[draw(rules_, number, cell, where_to) % wanted.size()];
        asked[near[direction]][(direction + 2) % 4] = cell;
    }
    for (std::uint32_t cell = 0; cell < grid_.size(); cell++) {
        std::vector<std::uint32_t> those;
        for (const std::uint32_t from : asked[cell])
            if (from != none)
                those.push_back(from);
        if (those.empty())
            continue;
        const std::uint32_t from = those[draw(rules_, number, cell, which_to_take) % those.size()];
        Cell moved = grid_[from], child;
        if (grid_[cell].kind == Kind::fish)
            moved.energy = static_cast<std::uint8_t>(
                std::min<std::uint32_t>(moved.energy + rules_.energy_boost, 255));
        if (moved.age >= (kind == Kind::fish ? rules_.fish_spawn : rules_.shark_spawn)) {
            moved.age = 0;
            child = {kind, 0,
                     static_cast<std::uint8_t>(kind == Kind::shark ? rules_.energy_start : 0)};
        }
        grid_[cell] = moved;
        grid_[from] = child;
    }
    for (const std::uint32_t cell : starved)
        grid_[cell] = {};
}

} // namespace wator
