// Arenas in a heap: many small blocks, all freed at once (cl/kma/containers/arena.cl).
#pragma once

#include <cstdint>

#include "kma/heap_resident.hpp"

namespace kma {

/// How an Arena is made. A chunk is a block that the arena takes from its heap. It must fit there:
/// in a superblock or scatter heap, into one superblock.
struct ArenaOptions {
    /// Bytes of the first chunk, unless work-items together request more: 256 to 2^24, rounded up
    /// to a power of two.
    std::uint32_t least_chunk_bytes = 4096;
    /// The most bytes of a chunk, rounded up to a power of two, at least least_chunk_bytes. Below
    /// that, a chunk is twice as long as the previous one, or as long as what work-items request of
    /// it together. 0: the least of 16 MiB (scatter: 1 MiB), 1/64 of the heap's memory, and half a
    /// superblock. A block of more than a quarter of the longest chunk, or than 64 KiB, is
    /// allocated from the heap directly.
    std::uint32_t most_chunk_bytes = 0;
    /// Bytes of contiguous memory to reserve from the start, up to 2^34: the first work-items then
    /// find memory without allocating chunks. 0: none.
    std::uint64_t room = 0;
};

/// An arena in a heap (see HeapResident). A heap has as many as wanted.
class Arena : public HeapResident {
public:
    /// Makes an arena. Throws Error if the options are impossible, or if the heap has no memory for
    /// the arena and `room` bytes.
    explicit Arena(const Heap &heap, const ArenaOptions &options = {});

    /// Bytes of the heap in the arena's chunks: more than kernels requested.
    std::uint64_t bytes() const;

    /// Frees all blocks of the arena, which is empty then. In a bump heap only reset() recovers the
    /// memory.
    void clear() const { end(true); }

    /// Frees all blocks of the arena, and the arena. No copy of this handle may be used afterwards.
    void destroy() const { end(false); }

private:
    void end(bool keep) const;
};

} // namespace kma
