// The rules' constants as build options, and the order of a state.
#include "space.hpp"

#include <algorithm>
#include <tuple>

#include "common/defines.hpp"

namespace barnes_hut {

std::string Space::defines() const
{
    using samples::define;
    return define("BODIES", bodies) + define("SEED", seed) + define("DEPTH", depth) +
           define("THETA", theta) + define("GRAVITY", gravity) + define("TIME_STEP", time_step) +
           define("DAMPING", damping) + define("MAX_MASS", max_mass) + define("SPEED", speed) +
           define("SPIN", spin) + define("SPREAD", spread);
}

void sort(State &state)
{
    std::sort(state.bodies.begin(), state.bodies.end(),
              [](const Body &one, const Body &other) { return one.number < other.number; });
    std::sort(state.cells.begin(), state.cells.end(), [](const Cell &one, const Cell &other) {
        return std::tie(one.level, one.corner) < std::tie(other.level, other.corner);
    });
    for (Cell &cell : state.cells)
        std::sort(cell.own.begin(), cell.own.end());
}

} // namespace barnes_hut
