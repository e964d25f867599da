// Which implementations of the platform layer (cl/kma/platform) the device code uses on a device.
#pragma once

#include <string>

#include "kma/device.hpp"
#include "kma/program.hpp"

namespace kma {

/// How work-items access shared words; the values of KMA_MEMORY in cl/kma/platform/target.cl.
enum class MemoryPath { cl12 = 1, c11 = 2, nv = 3 };
/// How the lanes of a warp exchange values; the values of KMA_LANES in cl/kma/platform/target.cl.
enum class LanesPath { single = 1, subgroup = 2, nv = 3, amdgcn = 4 };

/// What code_path() found.
struct CodePath {
    MemoryPath memory;  ///< how work-items access shared words
    LanesPath lanes;    ///< how the lanes of a warp exchange values
    bool atomic64;      ///< KMA_HAS_ATOMIC64: whether 64-bit atomics are used
    unsigned lanes_met; ///< size of the largest lane group observed in a work-group of 64
};

/// Returns what a program with these options uses, by running a kernel. Throws BuildError if that
/// kernel does not compile.
CodePath code_path(const Device &device, const ProgramOptions &options = {});

/// A description, such as "OpenCL C 1.2: volatile words and fences".
const char *describe(MemoryPath path) noexcept;
const char *describe(LanesPath path) noexcept;

} // namespace kma
