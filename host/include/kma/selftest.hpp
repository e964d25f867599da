// Tests whether a device computes what kma relies on.
#pragma once

#include <string>
#include <vector>

#include "kma/device.hpp"
#include "kma/program.hpp"

namespace kma {

/// The result of one check of the selftest.
struct SelftestResult {
    /// The outcome of a check.
    enum class Verdict {
        passed,        ///< the device computed the right result
        failed,        ///< the device computed a wrong result
        not_applicable ///< the device, or the program with these options, lacks the feature
    };

    /// Name of the check, such as "64-bit atomics"; the same on every device.
    std::string name;
    Verdict verdict = Verdict::passed; ///< the outcome
    /// Details, without a full stop. Passed: what was done, in numbers. Failed: the wrong numbers,
    /// and what to do. Not applicable: why.
    std::string detail;
};

/// "passed", "failed" or "not applicable".
const char *name_of(SelftestResult::Verdict verdict);

/// Runs the selftest: atomics of both widths, messages between work-groups and within groups of
/// lanes, lanes together and apart, shared virtual memory. Returns all checks, always in the same
/// order. Takes some milliseconds in addition to the compiler's time. Terminates even if the device
/// computes wrong results.
///
/// `options` as for a Program: they select the tested implementations of the platform layer. With
/// "-DKMA_LANES=1" each work-item acts alone, and another -cl-std may select other atomics.
/// `headers` named like kma's own files replace them. Throws BuildError if the device's compiler
/// refuses the platform layer.
///
/// The first Heap or IndexedQueue on a Device runs it, without options, and throws Error if a check
/// failed; the environment variable KMA_SELFTEST=off skips that. docs/architecture.md says what a
/// pass proves.
std::vector<SelftestResult> selftest(const Device &device, const ProgramOptions &options = {});

} // namespace kma
