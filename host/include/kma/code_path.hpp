// Which implementations of the platform layer the device code takes on a device.
#pragma once

#include <string>

#include "kma/device.hpp"
#include "kma/program.hpp"

namespace kma {

/// How words are shared; the values are those of KMA_MEMORY in cl/kma/platform/target.cl.
enum class MemoryPath { cl12 = 1, c11 = 2, nv = 3 };
/// How work-items that run together talk; the values are those of KMA_LANES there.
enum class LanesPath { single = 1, subgroup = 2, nv = 3, amdgcn = 4 };

/// What code_path() found.
struct CodePath {
    MemoryPath memory;  ///< how words are shared
    LanesPath lanes;    ///< how work-items that run together talk
    bool atomic64;      ///< KMA_HAS_ATOMIC64: whether 64-bit atomics are used
    unsigned lanes_met; ///< how many lanes served each other in a work-group of 64
};

/// What a program with these options takes; runs a kernel that tells. Throws BuildError if there is
/// no such program.
CodePath code_path(const Device &device, const ProgramOptions &options = {});

/// In words, such as "OpenCL C 1.2: volatile words and fences".
const char *describe(MemoryPath path) noexcept;
const char *describe(LanesPath path) noexcept;

} // namespace kma
