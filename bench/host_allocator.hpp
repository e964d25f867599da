// The CPU's own allocators, for the host baseline.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace bench {

struct HostAllocator {
    std::string name; ///< with its version
    void *(*take)(std::size_t bytes);
    void (*give)(void *block);
};

/// glibc's malloc, and mimalloc where it is there.
struct HostAllocators {
    std::vector<HostAllocator> all;
    std::string missing; ///< a sentence about one that is not there; empty if none is missing
};

HostAllocators host_allocators();

} // namespace bench
