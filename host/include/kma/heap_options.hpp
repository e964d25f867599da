// How a heap is made.
#pragma once

#include <cstdint>
#include <string>

#include "kma/heap_kind.hpp"

namespace kma {

/// The heap's memory: a cl_mem buffer, or coarse-grained shared virtual memory, in which raw
/// pointers are also valid on the host.
enum class Storage { buffer, svm };

/// Options of superblock heaps only.
struct SuperblockOptions {
    /// Bytes of a superblock, which is also the largest request: a power of two from 4 KiB to 2
    /// MiB. 0: the largest such power of two up to 1/128 of the heap's size; if the heap may grow,
    /// up to 1/128 of max_bytes and 1/32 of its initial size.
    std::uint64_t bytes = 0;
};

/// Options of scatter heaps only.
struct ScatterOptions {
    /// Bytes of a region, which is also the largest request: a power of two from one page to 65,536
    /// pages. 0: 8 MiB.
    std::uint64_t region_bytes = 0;
    /// Bytes of a page: 4, 8 or 16 KiB. 0: 4 KiB.
    std::uint64_t page_bytes = 0;
};

/// How a heap is made.
struct HeapOptions {
    HeapKind kind = default_heap_kind; ///< the allocator
    Storage storage = Storage::buffer; ///< the kind of memory
    /// KMA_DEBUG of the programs that will use the heap (Heap::program). 0: no checks. 1: headers
    /// and refs are checked. 2: also red zones, poison and a quarantine. 3: also the source line
    /// that allocated each block.
    int debug = 0;
    SuperblockOptions superblock = {}; ///< of a superblock heap
    ScatterOptions scatter = {};       ///< of a scatter heap
    /// Further compiler options for the heap's own kernels and those of Heap::program. Options that
    /// change the heap's layout (KMA_HAS_ATOMIC64) must be the same in all programs that use it.
    std::string build_options = {};
    /// The most bytes that Heap::grow may give the heap, from its initial size to 64 GiB - 32. 0:
    /// it does not grow. The metadata are sized for this from the start: about 1/100 of max_bytes,
    /// except in bump heaps.
    std::uint64_t max_bytes = 0;
};

/// A number of blocks of one size that live at the same time; for Heap::bytes_for.
struct BlockDemand {
    std::uint64_t size;  ///< bytes that kernels request, at alignments up to 16
    std::uint64_t count; ///< number of blocks
};

} // namespace kma
