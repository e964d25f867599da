// The command line of the graph sample.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "common/options.hpp"
#include "device_graph.hpp"

namespace graph {

struct Options : samples::DeviceOptions {
    std::string input;         ///< the default file unless the user names one
    bool default_input = true; ///< true for the default file
    std::uint32_t limit = max_edges;

    GraphOptions layout;                     ///< from the heap and debug options
    std::optional<std::uint32_t> work_items; ///< none: chosen for the device
    bool keep_node = false;
    bool grow = false; ///< begin with a heap that is too small

    /// where the breadth-first search begins; none: at the first edge's source
    std::optional<std::uint32_t> from;
    bool sweep = false;
    std::optional<std::uint32_t> repeat;
};

/// Reads the arguments into `options`. Returns the exit code if the program must end now; the
/// message is printed.
std::optional<int> parse_options(int argc, char **argv, Options &options);

} // namespace graph
