// Results of the conformance suite, to be attached to bug reports.
#pragma once

#include <cstdio>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "devices.hpp"

namespace tool {

struct CaseResult {
    std::string name;
    std::size_t checks;
    double seconds;
    std::vector<std::string> failures; ///< each with source line, expression, values and heaps
};

struct CheckResults {
    DeviceFacts device;
    std::vector<CaseResult> cases;
    bool passed;
};

/// Runs all cases of tests/heap/conformance, or those with these `names`, on the device of
/// KMA_DEVICE; * at either end of a name stands for any text. Writes to `lines` what is tested
/// where, and a line for each case as it ends. Throws kma::Error if no case has such a name.
CheckResults run_check(const std::vector<std::string> &names, std::FILE *lines);

/// The table of all cases, failures, remarks and the verdict.
std::string to_text(const CheckResults &results);
void to_json(nlohmann::ordered_json &json, const CheckResults &results);

} // namespace tool
