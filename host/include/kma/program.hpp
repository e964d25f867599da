// Programs of user kernels and kma's device code.
#pragma once

#include <string>
#include <vector>

#include "kma/device.hpp"
#include "kma/heap_kind.hpp"
#include "kma/source.hpp"

namespace kma {

/// How a program is built.
struct ProgramOptions {
    /// Further compiler options, such as "-DWIDTH=4 -Imy/kernels". Macros do not reach kma's files,
    /// except KMA_…. A -cl-std here replaces kma's choice, as does a -cl-nv-maxrregcount. On NVIDIA
    /// kma limits programs with the slab heap as `heap` to 48 registers, those of a World to 64;
    /// without a limit a kernel that calls the heap's malloc uses about 160.
    std::string options = {};
    /// Files that units may include by name, besides kma's own.
    std::vector<Source> headers = {};
    /// KMA_HEAP: the kind of heap of kma_malloc and the other functions without a kind's name.
    HeapKind heap = default_heap_kind;
    /// KMA_DEBUG, 0 (fast) to 3. Must be HeapOptions::debug of the kernels' heaps.
    int debug = 0;
    /// KMA_STD_NAMES: defines malloc, free, … without the prefix.
    bool std_names = false;
};

/// A built program. Copies of one Device share a cache of the last 32 programs, by text and
/// options. A text with an `#include` that only the compiler can resolve (-I) is built each time.
class Program {
public:
    /// Builds `units` as one translation unit in which `#include "kma/…"` finds kma's files. Throws
    /// BuildError with the log, which names lines by unit or kma file.
    Program(const Device &device, const std::vector<Source> &units,
            const ProgramOptions &options = {});

    /// Creates a kernel object. Throws Error, with the names of all kernels, if there is none of
    /// that name.
    cl::Kernel kernel(const std::string &name) const;

    /// The OpenCL program.
    const cl::Program &program() const noexcept { return program_; }

    /// The compiler's log, which may contain warnings.
    std::string log() const;

private:
    // Keeps the context alive: programs of Intel's CPU runtime 2026.2 do not.
    Device device_;
    cl::Program program_;
};

} // namespace kma
