// The properties of devices that matter to kma, as text and JSON.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "kma/kma.hpp"

namespace tool {

struct DeviceFacts {
    std::string platform, name, type, version, driver;
    std::vector<std::string> c_versions; ///< versions of OpenCL C, such as "1.2"
    unsigned compute_units;
    std::uint64_t memory_bytes, max_buffer_bytes, buffer_alignment; ///< all in bytes
    bool svm;
    std::string obstacle;              ///< why kma cannot run here; empty if it can
    std::string language_option;       ///< -cl-std option that kma uses
    std::optional<kma::CodePath> path; ///< nullopt if there is an obstacle
    bool selected;                     ///< whether kma uses it by default
};

DeviceFacts facts_of(const cl::Device &device);

/// The facts of all devices. Throws kma::Error if there is none.
std::vector<DeviceFacts> all_facts();

std::string to_text(const DeviceFacts &facts);
void to_json(nlohmann::ordered_json &json, const DeviceFacts &facts);

} // namespace tool
