// Constants that the host passes to the device's compiler.
#pragma once

#include <cstdint>
#include <string>

namespace samples {

/// Returns an option that defines `name`, with a leading blank. In OpenCL C the value has the same
/// type and the same bits.
std::string define(const char *name, std::uint32_t value);
std::string define(const char *name, std::int32_t value);
std::string define(const char *name, float value);

} // namespace samples
