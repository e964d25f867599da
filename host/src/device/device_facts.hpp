// What kma asks of a device before anything is built for it.
#pragma once

#include <string>

namespace kma {

struct DeviceFacts {
    bool available;
    bool compiler; ///< of OpenCL C
    bool little_endian;
    unsigned address_bits;
};

/// What keeps a device from running kma, as the end of a sentence; empty if nothing does.
std::string obstacle(const DeviceFacts &device);

/// Throws Error if there is an obstacle.
void require_usable(const DeviceFacts &device, const std::string &name);

} // namespace kma
