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
    std::string names;         ///< the default file if none was given
    bool default_names = true; ///< and then this
    std::uint32_t limit = std::numeric_limits<std::uint32_t>::max();
    std::vector<std::string> expressions;
};

/// Reads the arguments into `options`. A value: the program shall end with that exit code, for all
/// is said.
std::optional<int> parse_options(int argc, char **argv, Options &options);

} // namespace automaton
