// The table of what one call may do wrong: pointers that are no blocks, sizes and alignments that cannot be.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "blocks.hpp"

namespace conformance {

/// The calls and bases of misuse.cl.
enum class MisuseCall : cl_uint {
    malloc,
    calloc,
    aligned_alloc,
    realloc_sized,
    free,
    realloc,
    usable_size,
    ref_of,
    deref,
    free_deref
};
enum class Base : cl_uint { nothing, heap, other_heap, foreign_buffer, private_variable, local_variable };

/// A pointer that is no living block's start.
struct WrongPointer {
    std::string what;
    Base base = Base::nothing;
    cl_ulong offset = 0;
    /// Memory that is free: no heap need know whether a block was there before.
    bool is_free_memory = false;
    /// A block that was handed out and freed.
    bool is_freed_block = false;
};

/// Of `blocks` in `heap`, whose slot `freed` was emptied, when a heap of the same size, `others`, has a block too.
std::vector<WrongPointer> wrong_pointers(const kma::Heap &heap, const Blocks &blocks, cl_uint freed_ref,
                                         cl_uint others_ref);

/// One call that returns NULL or 0 and changes nothing.
struct Misuse {
    std::string what;
    MisuseCall call;
    WrongPointer pointer;
    cl_ulong a = 0, b = 0;
    std::optional<kma::ErrorCode> code; ///< of the record that it leaves; none: it is no error
    cl_ulong size = 0;                  ///< in the record
};

/// What is wrong with each of these pointers, for heaps that know their blocks.
std::vector<Misuse> pointer_misuses(const std::vector<WrongPointer> &pointers);

/// Sizes and alignments; `living` is where a block of `old_bytes` is.
std::vector<Misuse> number_misuses(const Subject &subject, const WrongPointer &living, cl_ulong old_bytes);

/// Every call there is, with numbers that a heap could serve, and `living`.
std::vector<Misuse> all_calls(const Subject &subject, const WrongPointer &living);

/// The units in which blocks may lie, as the heap's header has them.
struct UnitRange {
    cl_uint begin, limit;
};
UnitRange blocks_range(const kma::Heap &heap);

} // namespace conformance
