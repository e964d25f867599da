// Options that all samples share: the device and the heap.
#pragma once

#include <optional>

#include "common/device_options.hpp"

namespace CLI {
class App;
}

namespace samples {

/// Adds all of them to `app`. When `app` parses, it writes into `options`; both must live until
/// then.
void add_device_options(CLI::App &app, DeviceOptions &options);

/// Adds the device option only.
void add_device_option(CLI::App &app, std::string &device);

/// Adds an option for a number of bytes, such as 64M.
void add_bytes_option(CLI::App &app, const std::string &name, std::optional<std::uint64_t> &bytes,
                      const std::string &description);

/// Parses the arguments. Returns the exit code if the program must end now; the message is printed.
std::optional<int> parse(CLI::App &app, int argc, char **argv);

} // namespace samples
