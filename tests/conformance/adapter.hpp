// What the suite asks of kma::Heap that its interface does not have in this form, or not for all kinds. A change of
// such a detail is a change of this file.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "kma/kma.hpp"

namespace conformance {

/// A heap with at least `payload` bytes for blocks. How much metadata stand beside them depends on the superblocks.
inline kma::Heap heap_with_room(const kma::Device &device, std::uint64_t payload, const kma::HeapOptions &options)
{
    std::uint64_t bytes = kma::Heap::bytes_for(options.kind, payload);
    for (int tries = 0;; tries++) {
        std::uint64_t missing = 32768;
        try {
            kma::Heap heap(device, bytes, options);
            const std::uint64_t capacity = heap.stats().capacity;
            if (capacity >= payload)
                return heap;
            missing = payload - capacity;
        } catch (const kma::Error &) { // no room for metadata and one superblock
            if (tries == 10)
                throw;
        }
        bytes += missing;
    }
}

/// Heap::check(): the invariants that are broken. Where there is none, what the statistics show.
template <class Heap> std::vector<std::string> findings(const Heap &heap)
{
    if constexpr (requires { heap.check(); })
        return heap.check();
    else
        return heap.stats().used <= heap.stats().capacity ? std::vector<std::string>{}
                                                          : std::vector<std::string>{"more used than there is"};
}

struct Living {
    std::uint64_t blocks, bytes;
};

/// Heap::leaks(): the blocks that nobody freed. None where it does not exist. Only for heaps that know their blocks.
template <class Heap> std::optional<Living> leaks(const Heap &heap)
{
    if constexpr (requires { heap.leaks().blocks; }) {
        const auto found = heap.leaks();
        return Living{found.blocks, found.bytes};
    } else {
        return {};
    }
}

} // namespace conformance
