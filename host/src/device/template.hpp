// Texts with named placeholders, for code that is generated.
#pragma once

#include <map>
#include <string>
#include <string_view>

namespace kma {

/// Returns `text` with each $name$ replaced by its value. Throws std::out_of_range for a name
/// without one.
std::string fill_template(std::string_view text,
                          const std::map<std::string_view, std::string> &values);

} // namespace kma
