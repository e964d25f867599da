// Constants that the host gives to the device's compiler.
#pragma once

#include <cstdint>
#include <string>

namespace samples {

/// An option that defines `name`, with a blank in front; the value reads as that type in OpenCL C,
/// and is the same to the last bit.
std::string define(const char *name, std::uint32_t value);
std::string define(const char *name, std::int32_t value);
std::string define(const char *name, float value);

} // namespace samples
