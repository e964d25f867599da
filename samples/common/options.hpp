// Options that all samples have: which device, which heap.
#pragma once

#include <optional>

#include "common/device_options.hpp"

namespace CLI {
class App;
}

namespace samples {

/// Adds them to `app`, which writes into `options` when it parses; both must live until then.
void add_device_options(CLI::App &app, DeviceOptions &options);

/// Parses. A value: the program shall end with that exit code, for all is said.
std::optional<int> parse(CLI::App &app, int argc, char **argv);

} // namespace samples
