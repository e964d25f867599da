// What keeps heaps and queues off a device that computes wrong.
#pragma once

#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "kma/selftest.hpp"

namespace kma {

/// What a refused user reads: of these results the first that failed, as the sentence about the
/// device of that name; empty if none did.
std::string refusal_of(const std::string &device_name, const std::vector<SelftestResult> &results);

/// Remembers of a Device and its copies what the selftest found, once it ran. Part of Device.
class SelftestGate {
public:
    using Test = std::function<std::vector<SelftestResult>(const Device &)>;

    /// Throws Error if a check fails on `device`, which must be this gate's. Runs the selftest if
    /// no call before did to the end; not at all if the environment variable KMA_SELFTEST is off,
    /// and throws if it is neither off nor on.
    void require_passed(const Device &device);

    /// Lets `test` stand in for the selftest: for tests of those who are refused.
    void replace(Test test);

private:
    std::mutex mutex_;
    Test test_ = [](const Device &device) { return selftest(device); };
    std::optional<std::string> refusal_; // empty text: passed
};

} // namespace kma
