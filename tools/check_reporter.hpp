// A reporter that Catch2 calls while the cases run; check.cpp reads the results afterwards.
#pragma once

#include <cstdio>
#include <string>
#include <vector>

#include "check.hpp"

namespace tool {

/// The name for Catch2's --reporter.
inline constexpr const char *check_reporter = "kma-check";

/// Tells the reporter to write `head` to `lines` before the first case, and then for each case its
/// name, "ok" or "FAILED", and the seconds.
void report_cases_to(std::FILE *lines, std::string head);

/// The finished cases, in order.
std::vector<CaseResult> &ended_cases();

} // namespace tool
