// The rules as the device's program has them, and numbers of a grid.
#include "ocean.hpp"

namespace wator {

std::string Rules::defines() const
{
    const auto one = [](const char *name, std::uint32_t value) { return std::string(" -D") + name + "=" + std::to_string(value) + "u"; };
    return one("WIDTH", width) + one("HEIGHT", height) + one("SEED", seed) + one("FISH_SPAWN", fish_spawn) + one("SHARK_SPAWN", shark_spawn) +
           one("ENERGY_START", energy_start) + one("ENERGY_BOOST", energy_boost) + one("FISH_SHARE", fish_share) + one("SHARK_SHARE", shark_share);
}

Population population_of(const Grid &grid)
{
    Population people;
    for (const Cell &cell : grid) {
        people.fish += cell.who == Who::fish;
        people.sharks += cell.who == Who::shark;
    }
    return people;
}

} // namespace wator
