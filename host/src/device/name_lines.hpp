// Line numbers in build logs.
#pragma once

#include <string>

namespace kma {

/// The build log of `text` (as expand() made it) with the places that count its raw lines replaced
/// by file and line.
std::string name_lines(const std::string &log, const std::string &text);

} // namespace kma
