// Formats numbers as OpenCL C literals.
#include "common/defines.hpp"

#include <limits>
#include <sstream>

namespace samples {
namespace {

std::string option(const char *name, const std::string &value)
{
    return std::string(" -D") + name + "=" + value;
}

} // namespace

std::string define(const char *name, std::uint32_t value)
{
    return option(name, std::to_string(value) + "u");
}

std::string define(const char *name, std::int32_t value)
{
    return option(name, std::to_string(value));
}

std::string define(const char *name, float value)
{
    std::ostringstream text;
    text.precision(std::numeric_limits<float>::max_digits10);
    text << std::scientific << value << "f";
    return option(name, text.str());
}

} // namespace samples
