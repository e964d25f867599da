// The command line of the shortest paths sample.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "common/options.hpp"
#include "edges.hpp"

namespace paths {

struct Options : samples::DeviceOptions {
    std::string input;         ///< the default file unless the user names one
    bool default_input = true; ///< true for the default file
    std::uint32_t limit = graph::max_edges;
    bool reverse = false;              ///< reverse all edges
    std::optional<std::uint32_t> from; ///< start of the paths; none: the first edge's source
    std::uint32_t most_weight = 100;
};

/// Reads the arguments into `options`. Returns the exit code if the program must end now; the
/// message is printed.
std::optional<int> parse_options(int argc, char **argv, Options &options);

} // namespace paths
