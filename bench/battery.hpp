// The benchmark battery: measures every kind of heap by the tests of papers about allocators.
// docs/benchmarks/README.md defines each suite. A new kind needs only its entry in the conformance
// suite's table.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "kma/kma.hpp"
#include "report.hpp"

namespace bench {

struct Options {
    std::vector<kma::HeapKind> heaps; ///< none: all
    std::vector<std::string> suites;  ///< names of suite_names(); none: all
    std::uint64_t heap_bytes = 0;     ///< 0: 8 GiB on a GPU, 256 MiB on a CPU
    bool quick = false;               ///< measures fewer lines and rounds
    /// Replacements for kma's files in the battery's programs. The heap's layout must stay the
    /// same.
    std::vector<kma::Source> replaced;
};

/// The suites in the order in which they run.
std::vector<std::string> suite_names();

/// Runs the suites on `device`. `progress` is called with a line before each piece of work.
Report run(const kma::Device &device, const Options &options,
           const std::function<void(const std::string &)> &progress);

} // namespace bench
