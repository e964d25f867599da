// The command line of the graph sample.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "common/options.hpp"
#include "device_graph.hpp"

namespace graph {

struct Options : samples::DeviceOptions {
    std::string input;         ///< the default file if none was given
    bool default_input = true; ///< and then this
    std::uint32_t limit = max_edges;

    GraphOptions layout;                     ///< as heap and debug say
    std::optional<std::uint32_t> work_items; ///< none: what is good for the device
    bool keep_node = false;
    bool grow = false; ///< begin with a heap that is too small

    /// where the breadth-first search begins; none: the first edge's source
    std::optional<std::uint32_t> from;
    bool sweep = false;
    std::optional<std::uint32_t> repeat;
};

/// Reads the arguments into `options`. A value: the program shall end with that exit code, for all
/// is said.
std::optional<int> parse_options(int argc, char **argv, Options &options);

} // namespace graph
