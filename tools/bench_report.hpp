// `kma bench`: runs the battery on the device of KMA_DEVICE; figures as text, JSON and CSV.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "battery.hpp"
#include "devices.hpp"

namespace tool {

struct BenchReport {
    DeviceFacts device;
    std::string date;    ///< start time, such as 2026-11-22T14:03:00Z
    std::string command; ///< command line of the run
    bench::Report figures;

    bool passed() const { return figures.passed(); }
};

/// Runs the battery; reports progress on standard error.
BenchReport run_bench(const bench::Options &options, const std::string &command);

/// Parses "NAME=FILE". Throws kma::Error if FILE does not exist, or kma has no file NAME.
kma::Source replacement(const std::string &text);

std::string to_text(const BenchReport &report);
std::string to_csv(const BenchReport &report);
void to_json(nlohmann::ordered_json &json, const BenchReport &report);

} // namespace tool
