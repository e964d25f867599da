// The land's hills, the rules' constants as build options, and a grid's numbers.
#include "land.hpp"

#include <algorithm>

#include "common/defines.hpp"

namespace sugarscape {

std::string Rules::defines() const
{
    using samples::define;
    return define("WIDTH", width) + define("HEIGHT", height) + define("SEED", seed) +
           define("MALE_SHARE", male_share) + define("FEMALE_SHARE", female_share) +
           define("REGROWTH", regrowth) + define("VISION", vision) +
           define("METABOLISM", metabolism) + define("METABOLISM_MORE", metabolism_more) +
           define("ENDOWMENT", endowment) + define("ENDOWMENT_MORE", endowment_more) +
           define("LIFE", life) + define("LIFE_MORE", life_more) +
           define("FERTILE_FROM", fertile_from) + define("FERTILE_UNTIL", fertile_until);
}

std::vector<std::uint8_t> Rules::capacities() const
{
    // squared radius of a hill; here the land is a torus of 256 x 256
    constexpr std::int64_t reach = 104 * 104;
    const auto square = [](std::int64_t from, std::int64_t to) {
        const std::int64_t way = std::min((from - to) & 255, (to - from) & 255);
        return way * way;
    };
    std::vector<std::uint8_t> all;
    for (std::uint64_t cell = 0; cell < cells(); cell++) {
        const auto x = static_cast<std::int64_t>(cell % width * 256 / width),
                   y = static_cast<std::int64_t>(cell / width * 256 / height);
        const std::int64_t away =
            std::min({square(x, 64) + square(y, 64), square(x, 192) + square(y, 192), reach});
        all.push_back(static_cast<std::uint8_t>(capacity * (reach - away) / reach));
    }
    return all;
}

Cell inhabited(std::uint16_t sugar, Sex sex, std::uint8_t age, std::uint32_t wealth,
               std::uint32_t genes)
{
    const auto gene = [genes](std::uint32_t number) {
        return static_cast<std::uint8_t>(genes >> 8 * number);
    };
    return {sugar, sex, age, gene(0), gene(1), gene(2), gene(3), wealth};
}

samples::Numbers population_of(const Grid &grid)
{
    std::uint64_t males = 0, females = 0;
    for (const Cell &cell : grid) {
        males += cell.sex == Sex::male;
        females += cell.sex == Sex::female;
    }
    return {{"males", males}, {"females", females}};
}

} // namespace sugarscape
