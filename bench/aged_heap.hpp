// An aged heap, for suites that measure on a heap in use.
#pragma once

#include <string>

#include "bench.hpp"

namespace bench {

/// Ages the shared heap: fills half of it with blocks of 16 to 4,080 bytes, and in each of 1,000
/// kernels (`--quick`: 50) frees and allocates those in a window. Adds a row with the used memory
/// to `suite`. The heap must reuse memory. The next reset ends the aging.
class AgedHeap {
public:
    AgedHeap(Bench &bench, const std::string &suite);

    /// Whether the blocks still have the contents painted after the aging.
    bool unharmed();

private:
    double turn(std::size_t work_items, std::size_t first, cl_uint take, cl_uint give,
                std::uint32_t seed);

    Bench &bench_;
    std::size_t slots_;
    cl::Buffer refs_, sizes_;
};

} // namespace bench
