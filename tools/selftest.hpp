// The selftest's results, as text and JSON.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "devices.hpp"

namespace tool {

struct SelftestReport {
    DeviceFacts device;
    std::vector<kma::SelftestResult> results;

    bool passed() const;
};

/// Runs the selftest on the device of KMA_DEVICE, with `build_options` for its kernels.
SelftestReport run_selftest(const std::string &build_options);

std::string to_text(const SelftestReport &report);
void to_json(nlohmann::ordered_json &json, const SelftestReport &report);

} // namespace tool
