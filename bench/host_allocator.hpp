// The CPU's allocators, for the host baseline.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace bench {

struct HostAllocator {
    std::string name; ///< name and version
    void *(*take)(std::size_t bytes);
    void (*give)(void *block);
};

/// glibc's malloc, and mimalloc if installed.
struct HostAllocators {
    std::vector<HostAllocator> all;
    std::string missing; ///< a sentence about a missing allocator; empty if there is none
};

HostAllocators host_allocators();

} // namespace bench
