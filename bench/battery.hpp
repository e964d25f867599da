// The benchmark battery: every heap measured by the tests that papers about allocators use.
// docs/benchmarks/README.md has each suite's definition. A new kind of heap joins by its entry in
// the conformance suite's table; no suite names one.
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
    bool quick = false;               ///< fewer lines and rounds
    /// Files of kma that these replace in the battery's programs. The heap's layout must stay as it
    /// is.
    std::vector<kma::Source> replaced;
};

/// In the order in which they run.
std::vector<std::string> suite_names();

/// Runs them on `device`. `progress` gets a line before each piece of work.
Report run(const kma::Device &device, const Options &options,
           const std::function<void(const std::string &)> &progress);

} // namespace bench
