// The properties that decide whether kma can use a device.
#pragma once

#include <string>

namespace kma {

struct DeviceFacts {
    bool available;
    bool compiler; ///< has a compiler for OpenCL C
    bool little_endian;
    unsigned address_bits;
};

/// Why kma cannot run on a device, as the end of a sentence; empty if it can.
std::string obstacle(const DeviceFacts &device);

/// Throws Error if there is an obstacle.
void require_usable(const DeviceFacts &device, const std::string &name);

} // namespace kma
