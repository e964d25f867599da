// The conformance suite's results, as a user sends them with a bug report.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "devices.hpp"

namespace tool {

struct CaseResult {
    std::string name;
    std::size_t checks;
    double seconds;
    std::vector<std::string> failures; ///< each with place, expression, values and who took part
};

struct CheckResults {
    DeviceFacts device;
    std::vector<CaseResult> cases;
    bool passed;
};

/// Runs all cases of tests/conformance, or those that match Catch2's `filter`, on the device of KMA_DEVICE. Tells on
/// standard error where it is. Throws kma::Error if no case matches.
CheckResults run_check(const std::string &filter);

std::string to_text(const CheckResults &results);
void to_json(nlohmann::ordered_json &json, const CheckResults &results);

} // namespace tool
