// What Catch2 calls while the cases run; check.cpp reads the results afterwards.
#pragma once

#include <vector>

#include "check.hpp"

namespace tool {

/// The name to give to Catch2's --reporter.
inline constexpr const char *check_reporter = "kma-check";

/// The cases that have ended, in their order.
std::vector<CaseResult> &ended_cases();

} // namespace tool
