// The command line of the Wa-Tor sample.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "ocean.hpp"

namespace wator {

struct Options {
    std::string device;
    Rules rules;
    std::uint32_t steps = 100;
    std::string version = "objects";
    std::optional<std::uint64_t> bytes; ///< of the world or heap; none: enough
    bool verify = true;
    bool stop_when_full = false;
    bool debug = false;
    std::string frames;            ///< a folder for pictures, or empty
    std::uint32_t frame_steps = 1; ///< between two of them
    std::string curve;             ///< a file for numbers of each step, or empty
    std::string build_options;
};

/// Reads the arguments into `options`. A value: the program shall end with that exit code, for all is said.
std::optional<int> parse_options(int argc, char **argv, Options &options);

} // namespace wator
