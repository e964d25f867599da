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

/// Which device; part of the above.
void add_device_option(CLI::App &app, std::string &device);

/// A number of bytes such as 64M.
void add_bytes_option(CLI::App &app, const std::string &name, std::optional<std::uint64_t> &bytes,
                      const std::string &description);

/// Parses. A value: the program shall end with that exit code, for all is said.
std::optional<int> parse(CLI::App &app, int argc, char **argv);

} // namespace samples
