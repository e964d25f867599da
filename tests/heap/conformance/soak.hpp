// The soak: blocks by the thousand million, each verified before it is freed. A tenth of a second of it is a case of
// the suite; `kma soak` runs as much as one likes.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "heaps.hpp"
#include "support.hpp"

namespace conformance {

struct SoakOptions {
    std::uint64_t pairs = 1'000'000; ///< of malloc and free; a little more are done
    std::size_t work_items = 16384;  ///< a multiple of work_group
    std::size_t work_group = 64;
    std::uint32_t per_item = 8;   ///< slots of each work-item, half of them filled on average
    std::uint32_t largest = 1024; ///< bytes; most blocks have at most 96
    /// Of the heap, which has 1 MiB at least. Slots hold some 50 on average: with 64 it runs full now and then.
    std::uint64_t bytes_per_slot = 512;
    std::uint64_t superblock_bytes = 0; ///< or of a scatter heap's region; 0: the default
    std::uint32_t seed = 1;
};

struct SoakResult {
    std::uint64_t pairs = 0;           ///< blocks served, verified and freed
    std::uint64_t refused = 0;         ///< requests that got NULL
    std::uint64_t wrong = 0;           ///< words or bytes of blocks that were not as their owner left them
    std::uint64_t launches = 0;        ///< kernels; between them the host looked at the counts
    double kernel_seconds = 0;         ///< by event profiling, painting and verifying included
    std::vector<std::string> findings; ///< sentences: what else was not as it must be; empty if all is well

    bool passed() const { return wrong == 0 && findings.empty(); }
};

/// Of pattern.cl.
struct Counts {
    cl_uint served, refused, freed, wrong;
};
Counts sum(const test::Array<Counts> &results);

/// Runs it on a new heap. After each launch `progress` gets the pairs done so far. Ends early if a block's contents are
/// wrong. Heaps that take nothing back before a reset are emptied and reset after each launch.
SoakResult soak(
    const Subject &subject, const SoakOptions &options,
    const std::function<void(std::uint64_t)> &progress = [](std::uint64_t) {});

} // namespace conformance
