// The rules' numbers as the device's program has them.
#include "space.hpp"

#include <limits>
#include <sstream>

namespace collision {

std::string Space::defines() const
{
    std::ostringstream text;
    text.precision(std::numeric_limits<float>::max_digits10);
    text << std::scientific << " -DBODIES=" << bodies << "u -DSEED=" << seed << "u -DMAX_MASS=" << max_mass << "u -DMERGE_DISTANCE=" << merge_distance
         << "f -DGRAVITY=" << gravity << "f -DTIME_STEP=" << time_step << "f -DDAMPING=" << damping << "f -DSPEED=" << speed << "f";
    return text.str();
}

} // namespace collision
