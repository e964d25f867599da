// What a heap shall be like.
#pragma once

#include <cstdint>
#include <string>

#include "kma/heap_kind.hpp"

namespace kma {

/// Where the heap's memory comes from: a cl_mem buffer, or coarse-grained shared virtual memory, in
/// which raw pointers too mean the same on both sides.
enum class Storage { buffer, svm };

/// How a heap is made.
struct HeapOptions {
    /// which allocator; ProgramOptions::heap of its kernels is the same
    HeapKind kind = default_heap_kind;
    Storage storage = Storage::buffer; ///< where its memory comes from
    /// KMA_DEBUG of the programs that will use the heap: 0 fast, 1 headers and refs checked, 2 also
    /// red zones, poison and a quarantine, 3 also who took each block, and where. Heap::set_arg
    /// refuses a kernel with another.
    int debug = 0;
    /// Superblock heap: bytes of a superblock, the largest request: a power of two from 4 KiB to 2
    /// MiB. 0: by the heap's size, the power of two not above 1/128 of it, within these bounds; if
    /// the heap may grow, not above 1/128 of max_bytes nor 1/32 of its size at the start. Scatter
    /// heap: bytes of a super block, the largest request: a power of two from one page to 65,536
    /// pages. 0: 8 MiB.
    std::uint64_t superblock_bytes = 0;
    /// More compiler options for the heap's own kernels. Those that change what lies in the heap
    /// (KMA_HAS_ATOMIC64) must be the same in all programs that use it.
    std::string build_options = {};
    /// The most bytes that Heap::grow may give the heap, from its size at the start to 64 GiB - 32.
    /// Its metadata have room for them from the start: of others than bump heaps about 1/100 of
    /// max_bytes lie in front. 0: it does not grow.
    std::uint64_t max_bytes = 0;
    /// Scatter heap: bytes of a page: 4, 8 or 16 KiB. 0: 4 KiB. Other heaps do not look at it.
    std::uint64_t page_bytes = 0;
};

/// So many blocks of one size that live at the same time; for Heap::bytes_for.
struct BlockDemand {
    std::uint64_t size;  ///< bytes that the kernels ask for, at alignments up to 16
    std::uint64_t count; ///< blocks
};

} // namespace kma
