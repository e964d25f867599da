// A heap in use, for the suites that measure on one.
#pragma once

#include <string>

#include "bench.hpp"

namespace bench {

/// Ages the shared heap: blocks of 16 to 4,080 bytes in half of it, of which those in a window come
/// and go in each of 1,000 kernels (`--quick`: 50). Adds a row with the memory in use to `suite`.
/// The heap must take blocks back; the next reset ends its age.
class AgedHeap {
public:
    AgedHeap(Bench &bench, const std::string &suite);

    /// Whether the blocks are as they were painted when the heap had been aged.
    bool unharmed();

private:
    double turn(std::size_t work_items, std::size_t first, cl_uint take, cl_uint give,
                std::uint32_t seed);

    Bench &bench_;
    std::size_t slots_;
    cl::Buffer refs_, sizes_;
};

} // namespace bench
