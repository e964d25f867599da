// The rules as the device's program has them, and numbers of a grid.
#include "ocean.hpp"

namespace wator {

std::string Rules::defines() const
{
    const auto one = [](const char *name, std::uint32_t value) { return std::string(" -D") + name + "=" + std::to_string(value) + "u"; };
    return one("WIDTH", width) + one("HEIGHT", height) + one("SEED", seed) + one("FISH_SPAWN", fish_spawn) + one("SHARK_SPAWN", shark_spawn) +
           one("ENERGY_START", energy_start) + one("ENERGY_BOOST", energy_boost) + one("FISH_SHARE", fish_share) + one("SHARK_SHARE", shark_share);
}

samples::Numbers population_of(const Grid &grid)
{
    std::uint64_t fish = 0, sharks = 0;
    for (const Cell &cell : grid) {
        fish += cell.who == Who::fish;
        sharks += cell.who == Who::shark;
    }
    return {{"fish", fish}, {"sharks", sharks}};
}

} // namespace wator
