// The mesh at the start, and the numbers of a state.
#include "mesh.hpp"

#include <algorithm>

#include "common/defines.hpp"
#include "common/mix32.hpp"

namespace structure {

std::string Rules::defines() const
{
    using samples::define;
    return define("WIDTH", width) + define("HEIGHT", height) + define("SEED", seed) +
           define("PULL", static_cast<std::int32_t>(unit * pull)) +
           define("STRENGTH", unit * strength) + define("MASS", static_cast<std::int32_t>(mass)) +
           define("FRICTION", static_cast<std::int32_t>(friction)) + define("SPREAD", spread) +
           define("MISSING", missing_nodes) + define("WEAK", weak_springs);
}

std::uint32_t chance(const Rules &rules, std::uint32_t number, Purpose purpose)
{
    return samples::mix32(samples::mix32(4 * rules.seed + static_cast<std::uint32_t>(purpose)) ^
                          number);
}

std::uint32_t end_of(const Rules &rules, std::uint32_t spring)
{
    const std::uint32_t begin = spring % rules.cells(), direction = spring / rules.cells();
    std::int64_t x = begin % rules.width, y = begin / rules.width;
    if (direction == 0) {
        x++;
    } else {
        x += y % 2 - (direction == 2 ? 1 : 0); // odd rows are shifted to the right
        y++;
    }
    return x >= 0 && x < rules.width && y < rules.height
               ? static_cast<std::uint32_t>(y * rules.width + x)
               : nowhere;
}

std::int32_t strength_of(const Rules &rules, std::uint32_t spring)
{
    const std::uint32_t full = unit * rules.strength,
                        drawn = full - chance(rules, spring, Purpose::how_strong) % (full / 2 + 1);
    return static_cast<std::int32_t>(
        chance(rules, spring, Purpose::whether_weak) % 1024 < rules.weak_springs ? drawn / 4
                                                                                 : drawn);
}

samples::Numbers numbers_of(const State &state)
{
    const auto count = [](const auto &all) {
        return static_cast<std::uint64_t>(
            std::count_if(all.begin(), all.end(), [](const auto &one) { return one.exists; }));
    };
    return {{"nodes", count(state.nodes)}, {"springs", count(state.springs)}};
}

} // namespace structure
