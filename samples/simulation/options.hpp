// The command line that all simulations share.
#pragma once

#include "simulation/simulation.hpp"

namespace samples {

struct SimulationOptions {
    std::string device;
    Setting setting;
    std::uint32_t steps = 0;
    std::uint32_t verify_steps = 0; ///< compare after at most so many; 0: never
    bool stop_when_full = false;
    std::string frames;            ///< folder for pictures, or empty
    std::uint32_t frame_steps = 1; ///< steps between two pictures
    std::string curve;             ///< file for the numbers after each step, or empty
    std::string json;              ///< file for times and numbers, or empty
};

/// Reads the arguments into `options` and the model's own options. Returns the exit code if the
/// program must end now; the message is printed.
std::optional<int> parse_simulation(Model &model, int argc, char **argv,
                                    SimulationOptions &options);

} // namespace samples
