// The rules' constants as build options, and a grid's numbers.
#include "ocean.hpp"

#include "common/defines.hpp"

namespace wator {

std::string Rules::defines() const
{
    using samples::define;
    return define("WIDTH", width) + define("HEIGHT", height) + define("SEED", seed) +
           define("FISH_SPAWN", fish_spawn) + define("SHARK_SPAWN", shark_spawn) +
           define("ENERGY_START", energy_start) + define("ENERGY_BOOST", energy_boost) +
           define("FISH_SHARE", fish_share) + define("SHARK_SHARE", shark_share);
}

samples::Numbers population_of(const Grid &grid)
{
    std::uint64_t fish = 0, sharks = 0;
    for (const Cell &cell : grid) {
        fish += cell.kind == Kind::fish;
        sharks += cell.kind == Kind::shark;
    }
    return {{"fish", fish}, {"sharks", sharks}};
}

} // namespace wator
