// `kma soak`: allocation for as long as one likes, every block verified; its results for people and
// for programs.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "devices.hpp"
#include "soak.hpp"

namespace tool {

struct SoakReport {
    struct Heap {
        std::string name; ///< kind and flavour
        conformance::SoakResult result;
    };
    DeviceFacts device;
    conformance::SoakOptions options;
    std::vector<Heap> heaps;

    bool passed() const;
};

/// Soaks each of `kinds` with KMA_DEBUG=`debug` on the device of KMA_DEVICE, and tells of its
/// progress on standard error.
SoakReport run_soak(const std::vector<kma::HeapKind> &kinds, int debug,
                    const conformance::SoakOptions &options);

std::string to_text(const SoakReport &report);
void to_json(nlohmann::ordered_json &json, const SoakReport &report);

} // namespace tool
