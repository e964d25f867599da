// Memory of many small blocks that are all freed at once (cl/kma/containers/arena.cl), in a heap.
#pragma once

#include <cstdint>

#include "kma/device.hpp"
#include "kma/heap.hpp"
#include "kma/program.hpp"

namespace kma {

/// How an Arena is made. Chunks are what it takes from its heap, so they must fit there
/// (superblock, scatter: into one superblock).
struct ArenaOptions {
    /// Bytes of the first chunk, if no crowd wants more, rounded up to a power of two, 256 to 2^24.
    std::uint32_t least_chunk_bytes = 4096;
    /// Each chunk is twice as long as the one before, or as long as what a crowd wants of it, until
    /// they have so many bytes, rounded up likewise; no fewer than least_chunk_bytes. 0: 16 MiB
    /// (scatter: 1 MiB), 1/64 of the heap's memory, or half a superblock, whichever is least. A
    /// block of more than a quarter of the longest chunk, or 64 KiB, is a block of the heap of its
    /// own.
    std::uint32_t most_chunk_bytes = 0;
    /// Bytes for which there is memory in one piece from the start, up to 2^34: so a crowd that
    /// begins need not wait for chunks. 0: none.
    std::uint64_t room = 0;
};

/// An arena in a heap. A handle: it knows the arena's ref, and not whether the heap still has it.
/// Copies mean the same arena; destroying one frees nothing: destroy() does, as do the heap's reset
/// and end. Every call takes the heap, waits for the device's queue, and throws Error if `heap` is
/// of another kind or KMA_DEBUG than the arena was made for. No kernel may use the arena meanwhile.
class Arena {
public:
    /// Makes an arena. Throws Error if the options are impossible, or if the heap has no memory for
    /// it and its room.
    Arena(const Device &device, const Heap &heap, const ArenaOptions &options = {});

    /// What kernels take as `kma_ref`, and hand to kma_arena_at.
    Ref ref() const noexcept { return ref_; }

    /// Makes the arena argument number `index` of `kernel`, a kma_ref.
    void set_arg(cl::Kernel &kernel, cl_uint index) const { kernel.setArg(index, ref_); }

    /// How many bytes of the heap its chunks have: more than kernels asked it for.
    std::uint64_t bytes(const Heap &heap) const;

    /// Frees all that kernels took of it; it is there, and empty. In the bump heap that memory
    /// comes back by reset() only.
    void clear(const Heap &heap) const { end(heap, true); }

    /// Frees all that kernels took of it, and the arena; no copy of this handle may be used any
    /// more.
    void destroy(const Heap &heap) const { end(heap, false); }

private:
    cl::Kernel kernel(const char *name, const Heap &heap) const;
    void end(const Heap &heap, bool keep) const;

    Device device_;
    Program program_;
    Ref ref_ = 0;
};

} // namespace kma
