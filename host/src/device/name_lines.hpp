// Line numbers in build logs.
#pragma once

#include <string>

namespace kma {

/// Replaces raw line numbers of `text`, an output of expand(), in its build log by file and line.
std::string name_lines(const std::string &log, const std::string &text);

} // namespace kma
