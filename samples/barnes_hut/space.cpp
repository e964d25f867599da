// The rules' numbers as the device's program has them, and the order of a state.
#include "space.hpp"

#include <algorithm>
#include <limits>
#include <sstream>
#include <tuple>

namespace barnes_hut {

std::string Space::defines() const
{
    std::ostringstream text;
    text.precision(std::numeric_limits<float>::max_digits10);
    text << std::scientific << " -DBODIES=" << bodies << "u -DSEED=" << seed << "u -DDEPTH=" << depth << "u -DTHETA=" << theta
         << "f -DGRAVITY=" << gravity << "f -DTIME_STEP=" << time_step << "f -DDAMPING=" << damping << "f -DMAX_MASS=" << max_mass
         << "f -DSPEED=" << speed << "f -DSPIN=" << spin << "f -DSPREAD=" << spread << "f";
    return text.str();
}

void sort(State &state)
{
    std::sort(state.bodies.begin(), state.bodies.end(), [](const Body &one, const Body &other) { return one.number < other.number; });
    std::sort(state.cells.begin(), state.cells.end(),
              [](const Cell &one, const Cell &other) { return std::tie(one.level, one.corner) < std::tie(other.level, other.corner); });
    for (Cell &cell : state.cells)
        std::sort(cell.own.begin(), cell.own.end());
}

} // namespace barnes_hut
