// Texts with named placeholders, for generated code.
#pragma once

#include <map>
#include <string>
#include <string_view>

namespace kma {

/// Replaces each $name$ in `text` by its value. Throws std::out_of_range for a name without a
/// value.
std::string fill_template(std::string_view text,
                          const std::map<std::string_view, std::string> &values);

} // namespace kma
