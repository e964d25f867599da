// The mesh as it is at first, and numbers of a state.
#include "mesh.hpp"

#include <algorithm>

#include "common/mix32.hpp"

namespace structure {

std::string Rules::defines() const
{
    const auto one = [](const char *name, std::uint32_t value, const char *suffix) {
        return std::string(" -D") + name + "=" + std::to_string(value) + suffix;
    };
    return one("WIDTH", width, "u") + one("HEIGHT", height, "u") + one("SEED", seed, "u") + one("PULL", unit * pull, "") +
           one("STRENGTH", unit * strength, "u") + one("MASS", mass, "") + one("FRICTION", friction, "") + one("SPREAD", spread, "u") +
           one("MISSING", missing_nodes, "u") + one("WEAK", weak_springs, "u");
}

std::uint32_t chance(const Rules &rules, std::uint32_t number, Purpose purpose)
{
    return samples::mix32(samples::mix32(4 * rules.seed + static_cast<std::uint32_t>(purpose)) ^ number);
}

std::uint32_t end_of(const Rules &rules, std::uint32_t spring)
{
    const std::uint32_t begin = spring % rules.cells(), direction = spring / rules.cells();
    std::int64_t x = begin % rules.width, y = begin / rules.width;
    if (direction == 0) {
        x++;
    } else {
        x += y % 2 - (direction == 2 ? 1 : 0); // odd rows are further right
        y++;
    }
    return x >= 0 && x < rules.width && y < rules.height ? static_cast<std::uint32_t>(y * rules.width + x) : nowhere;
}

std::int32_t strength_of(const Rules &rules, std::uint32_t spring)
{
    const std::uint32_t full = unit * rules.strength, drawn = full - chance(rules, spring, Purpose::how_strong) % (full / 2 + 1);
    return static_cast<std::int32_t>(chance(rules, spring, Purpose::whether_weak) % 1024 < rules.weak_springs ? drawn / 4 : drawn);
}

samples::Numbers numbers_of(const State &state)
{
    const auto count = [](const auto &all) {
        return static_cast<std::uint64_t>(std::count_if(all.begin(), all.end(), [](const auto &one) { return one.exists; }));
    };
    return {{"nodes", count(state.nodes)}, {"springs", count(state.springs)}};
}

} // namespace structure
