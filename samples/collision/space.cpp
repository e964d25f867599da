// The rules' constants as build options.
#include "space.hpp"

#include "common/defines.hpp"

namespace collision {

std::string Space::defines() const
{
    using samples::define;
    return define("BODIES", bodies) + define("SEED", seed) + define("MAX_MASS", max_mass) +
           define("MERGE_DISTANCE", merge_distance) + define("GRAVITY", gravity) +
           define("TIME_STEP", time_step) + define("DAMPING", damping) + define("SPEED", speed);
}

} // namespace collision
