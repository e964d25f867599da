// The command line that all simulations have.
#pragma once

#include "simulation/simulation.hpp"

namespace samples {

struct SimulationOptions {
    std::string device;
    Setting setting;
    std::uint32_t steps = 0;
    std::uint32_t verify_steps = 0; ///< at most so many are compared; 0: none
    bool stop_when_full = false;
    std::string frames;            ///< a folder for pictures, or empty
    std::uint32_t frame_steps = 1; ///< between two of them
    std::string curve;             ///< a file for the numbers after each step, or empty
    std::string json;              ///< a file for the figures, or empty
};

/// Reads the arguments into `options` and the model's own. A value: the program shall end with that
/// exit code, for all is said.
std::optional<int> parse_simulation(Model &model, int argc, char **argv,
                                    SimulationOptions &options);

} // namespace samples
