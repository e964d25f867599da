// A suite's table for people: lines as rows, heaps as columns, medians only.
#pragma once

#include <string>

#include "battery.hpp"

namespace tool {

/// Three significant digits, no exponent and no zero before the point: ".0312", "12.3", "1,234".
std::string figure_text(double value);

/// Whether the suite fills heaps on purpose: its NULLs are no finding.
bool runs_full(const std::string &suite);

/// Returns the suite's table, and below it wrong results, NULLs and notes. Empty if the suite was
/// not run.
std::string suite_text(const bench::Report &report, const std::string &suite);

/// Returns the notes that concern all suites.
std::string general_notes(const bench::Report &report);

} // namespace tool
