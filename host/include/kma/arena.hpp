// Arenas in a heap: many small blocks, all freed at once (cl/kma/containers/arena.cl).
#pragma once

#include <cstdint>

#include "kma/device.hpp"
#include "kma/heap.hpp"
#include "kma/program.hpp"

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

/// An arena in a heap. A handle: it holds the arena's ref and does not know whether the arena still
/// exists. Copies refer to the same arena. The destructor frees nothing; destroy(), the heap's
/// reset and the heap's end do.
///
/// Every call takes the heap, waits for the device's queue, and throws Error if `heap` has another
/// kind or KMA_DEBUG than the arena was made for. No kernel may use the arena during a call.
class Arena {
public:
    /// Makes an arena. Throws Error if the options are impossible, or if the heap has no memory for
    /// the arena and `room` bytes.
    Arena(const Device &device, const Heap &heap, const ArenaOptions &options = {});

    /// What kernels take as `kma_ref`, and hand to kma_arena_at.
    Ref ref() const noexcept { return ref_; }

    /// Makes the arena argument number `index` of `kernel`, a kma_ref.
    void set_arg(cl::Kernel &kernel, cl_uint index) const { kernel.setArg(index, ref_); }

    /// Bytes of the heap in the arena's chunks: more than kernels requested.
    std::uint64_t bytes(const Heap &heap) const;

    /// Frees all blocks of the arena, which is empty then. In a bump heap only reset() recovers the
    /// memory.
    void clear(const Heap &heap) const { end(heap, true); }

    /// Frees all blocks of the arena, and the arena. No copy of this handle may be used afterwards.
    void destroy(const Heap &heap) const { end(heap, false); }

private:
    cl::Kernel kernel(const char *name, const Heap &heap) const;
    void end(const Heap &heap, bool keep) const;

    Device device_;
    Program program_;
    Ref ref_ = 0;
};

} // namespace kma
