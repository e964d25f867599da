// `kma bench`: the battery on the device of KMA_DEVICE, and its figures for people and for
// programs.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "battery.hpp"
#include "devices.hpp"

namespace tool {

struct BenchReport {
    DeviceFacts device;
    std::string date;    ///< of its begin, such as 2026-11-22T14:03:00Z
    std::string command; ///< that made it
    bench::Report figures;

    bool passed() const { return figures.passed(); }
};

/// Runs it, and tells on standard error where it is.
BenchReport run_bench(const bench::Options &options, const std::string &command);

/// Reads "NAME=FILE". Throws kma::Error if there is no such file, or kma has no file NAME.
kma::Source replacement(const std::string &text);

std::string to_text(const BenchReport &report);
std::string to_csv(const BenchReport &report);
void to_json(nlohmann::ordered_json &json, const BenchReport &report);

} // namespace tool
