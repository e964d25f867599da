// The command line of the automaton sample.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "common/options.hpp"

namespace automaton {

struct Options : samples::DeviceOptions {
    std::string names;         ///< the default file unless the user names one
    bool default_names = true; ///< true for the default file
    std::uint32_t limit = std::numeric_limits<std::uint32_t>::max();
    std::vector<std::string> expressions;
};

/// Reads the arguments into `options`. Returns the exit code if the program must end now; the
/// message is printed.
std::optional<int> parse_options(int argc, char **argv, Options &options);

} // namespace automaton
