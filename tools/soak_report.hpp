// `kma soak`: allocates for a given time and verifies every block; results as text and JSON.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "devices.hpp"
#include "soak.hpp"

namespace tool {

struct SoakReport {
    struct Heap {
        std::string name; ///< kind and KMA_DEBUG
        conformance::SoakResult result;
    };
    DeviceFacts device;
    conformance::SoakOptions options;
    std::vector<Heap> heaps;

    bool passed() const;
};

/// Runs the soak test on each of `kinds` with KMA_DEBUG=`debug` on the device of KMA_DEVICE;
/// reports progress on standard error.
SoakReport run_soak(const std::vector<kma::HeapKind> &kinds, int debug,
                    const conformance::SoakOptions &options);

std::string to_text(const SoakReport &report);
void to_json(nlohmann::ordered_json &json, const SoakReport &report);

} // namespace tool
