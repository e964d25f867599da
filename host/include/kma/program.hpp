// User kernels built together with kma's device code.
#pragma once

#include <cstddef>
#include <list>
#include <mutex>
#include <string>
#include <vector>

#include "kma/device.hpp"
#include "kma/heap_kind.hpp"
#include "kma/source.hpp"

namespace kma {

/// How a program is built.
struct ProgramOptions {
    /// More options for the compiler, such as "-DWIDTH=4 -Imy/kernels". Macros do not reach kma's
    /// files, except KMA_…. A -cl-std here replaces kma's choice, and so does a
    /// -cl-nv-maxrregcount, which on NVIDIA is 48 registers for programs whose `heap` is the slab
    /// heap: without a limit a kernel that calls its malloc has some 160.
    std::string options = {};
    /// What units may include by name besides kma's own files.
    std::vector<Source> headers = {};
    /// KMA_HEAP: the kind that kma_malloc and the other kma_… without a kind's name mean.
    HeapKind heap = default_heap_kind;
    /// KMA_DEBUG, 0 to 3: 0 is the fast flavour. Must be that of the heaps the kernels get.
    int debug = 0;
    /// KMA_STD_NAMES: malloc, free, … without the prefix.
    bool std_names = false;
};

/// A built program. Building one of the last 32 texts again, with the same options on copies of one
/// Device, costs nothing. A text with an `#include` that only the compiler can follow (-I) is built
/// each time.
class Program {
public:
    /// Builds `units` as one translation unit in which `#include "kma/…"` finds kma.
    /// Throws BuildError with the log, in which lines are named by unit or kma file.
    Program(const Device &device, const std::vector<Source> &units,
            const ProgramOptions &options = {});

    /// A new kernel object. Throws Error if there is none of that name, and lists those that there
    /// are.
    cl::Kernel kernel(const std::string &name) const;

    /// OpenCL's own object.
    const cl::Program &program() const noexcept { return program_; }

    /// The compiler's log, which may hold warnings.
    std::string log() const;

private:
    // also keeps the context alive, which not every runtime's programs do (Intel's CPU runtime
    // 2026.2)
    Device device_;
    cl::Program program_;
};

/// The programs last built for one Device, by text and options. Part of Device; of no use by
/// itself.
class ProgramCache {
public:
    /// Keeps that many programs. Others live on where they are used, such as in a heap.
    explicit ProgramCache(std::size_t capacity = 32) : capacity_(capacity) {}

    /// The program with this text and these options; built by this call if it is not kept.
    cl::Program get(const cl::Context &context, const cl::Device &device, const std::string &text,
                    const std::string &options);

private:
    std::mutex mutex_;
    struct Built {
        std::string key;
        cl::Program program;
    };
    std::size_t capacity_;
    std::list<Built> programs_; // the last used one first
};

} // namespace kma
