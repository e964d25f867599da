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

/// Runs all cases of tests/heap/conformance, or those of these `names`, in which * at either end
/// stands for any text, on the device of KMA_DEVICE. Tells on standard error where it is. Throws
/// kma::Error if no case has such a name.
CheckResults run_check(const std::vector<std::string> &names);

std::string to_text(const CheckResults &results);
void to_json(nlohmann::ordered_json &json, const CheckResults &results);

} // namespace tool
