// Data that copies of a Device share, for the library only: the cache of built programs, and the
// selftest's result.
#pragma once

#include <cstddef>
#include <list>
#include <mutex>
#include <string>

#include "kma/device.hpp"
#include "selftest/gate.hpp"

namespace kma {

/// The cache of programs built for a Device, by text and options. An implementation detail of
/// Device.
class ProgramCache {
public:
    /// Keeps `capacity` programs. Programs dropped from the cache stay alive while in use.
    explicit ProgramCache(std::size_t capacity = 32) : capacity_(capacity) {}

    /// Returns the program with this text and these options; builds it if it is not cached.
    cl::Program get(const cl::Context &context, const cl::Device &device, const std::string &text,
                    const std::string &options);

private:
    std::mutex mutex_;
    struct Built {
        std::string key;
        cl::Program program;
    };
    std::size_t capacity_;
    std::list<Built> programs_; // most recently used first
};

/// Access to a Device's internals.
struct DeviceInternals {
    static ProgramCache &cache(const Device &device) { return *device.cache_; }
    static SelftestGate &selftest_gate(const Device &device) { return *device.selftest_gate_; }
};

/// Returns compiler options with a limit of registers on NVIDIA's driver, unless `options` have a
/// limit.
std::string limit_registers(const Device &device, std::string options, int registers);

} // namespace kma
