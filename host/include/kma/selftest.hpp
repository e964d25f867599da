// Whether a device computes what kma relies on.
#pragma once

#include <string>
#include <vector>

#include "kma/device.hpp"
#include "kma/program.hpp"

namespace kma {

/// One check of the selftest.
struct SelftestResult {
    /// How a check ended.
    enum class Verdict {
        passed,        ///< the device computed what it should
        failed,        ///< the device computed something wrong
        not_applicable ///< the device, or the program with these options, has nothing of the kind
    };

    /// What was checked, such as "64-bit atomics"; the same on every device.
    std::string name;
    Verdict verdict = Verdict::passed; ///< how it ended
    /// Without a full stop. Passed: what was done, in numbers. Failed: what was wrong, by which
    /// numbers, and what to do. Not applicable: why.
    std::string detail;
};

/// "passed", "failed" or "not applicable".
const char *name_of(SelftestResult::Verdict verdict);

/// Runs the selftest: atomics of both widths, messages between work-groups and within groups of
/// lanes, lanes together and apart, shared virtual memory. Always all of these, in the same order.
/// Takes some milliseconds beside the compiler's time, and ends whatever the device does wrong,
/// short of a crash.
///
/// `options`: as for a Program, so that what they make of the platform is tested: with
/// "-DKMA_LANES=1" each work-item goes alone, and another -cl-std may take another path to the
/// atomics. `headers` named like kma's own files replace them. Throws BuildError if the device's
/// compiler refuses the platform layer.
///
/// The first Heap or IndexedQueue on a Device runs it too, without options, and throws Error if a
/// check failed; the environment variable KMA_SELFTEST=off leaves that out. See
/// docs/architecture.md for what a pass proves.
std::vector<SelftestResult> selftest(const Device &device, const ProgramOptions &options = {});

} // namespace kma
