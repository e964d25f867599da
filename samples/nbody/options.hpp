// The command line of the n-body sample.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "bodies.hpp"

namespace nbody {

struct Options {
    std::string device;
    Space space;
    std::uint32_t steps = 10;
    std::string version = "objects";
    std::optional<std::uint64_t> bytes; ///< of the world or heap; none: enough
    std::uint32_t verify_steps = 10;    ///< at most so many steps are compared
    std::string frames;                 ///< a folder for pictures, or empty
};

/// Reads the arguments into `options`. A value: the program shall end with that exit code, for all is said.
std::optional<int> parse_options(int argc, char **argv, Options &options);

} // namespace nbody
