// The command line of the shortest paths sample.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "common/options.hpp"
#include "edges.hpp"

namespace paths {

struct Options : samples::DeviceOptions {
    std::string input;         ///< the default file if none was given
    bool default_input = true; ///< and then this
    std::uint32_t limit = graph::max_edges;
    bool reverse = false;              ///< each edge leads the other way
    std::optional<std::uint32_t> from; ///< where the ways begin; none: the first edge's source
    std::uint32_t most_weight = 100;
};

/// Reads the arguments into `options`. A value: the program shall end with that exit code, for all
/// is said.
std::optional<int> parse_options(int argc, char **argv, Options &options);

} // namespace paths
