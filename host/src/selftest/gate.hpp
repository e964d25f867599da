// Refuses heaps and queues on a device that fails the selftest.
#pragma once

#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "kma/selftest.hpp"

namespace kma {

/// The error message for the first failed result, with the device's name; empty if none failed.
std::string refusal_of(const std::string &device_name, const std::vector<SelftestResult> &results);

/// Keeps the selftest's result for a Device and its copies. Part of Device.
class SelftestGate {
public:
    using Test = std::function<std::vector<SelftestResult>(const Device &)>;

    /// Throws Error if a check fails on `device`, which must be this gate's. Runs the selftest
    /// unless an earlier call completed it or the environment variable KMA_SELFTEST is off. Throws
    /// Error if KMA_SELFTEST is neither off nor on.
    void require_passed(const Device &device);

    /// Replaces the selftest by `test`, for tests of the refusal.
    void replace(Test test);

private:
    std::mutex mutex_;
    Test test_ = [](const Device &device) { return selftest(device); };
    std::optional<std::string> refusal_; // empty: passed
};

} // namespace kma
