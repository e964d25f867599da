// The device's own struct definitions, read as C++. One definition for both sides.
#pragma once

#include <cstddef>
#include <cstdint>

namespace kma::layout {

using uint = std::uint32_t;
using ulong = std::uint64_t;
struct kma_atomic_u32 {
    uint word;
};
struct kma_atomic_u64 {
    ulong word;
};

// The form with 32-bit words has the same bytes: the head's upper half is a field that stays 0.
#define KMA_HAS_ATOMIC64 1
#include "kma/heap/bump_layout.cl"

// What the compilers of the device make of these structs must be what this one makes of them.
static_assert(sizeof(kma_error_record) == 24);
static_assert(offsetof(kma_heap_header, errors) == 128);
static_assert(sizeof(kma_heap_header) == 128 + 32 + 24 * KMA_ERROR_CODES * KMA_ERROR_KEPT);
static_assert(offsetof(kma_bump, head) == sizeof(kma_heap_header) + 96 && offsetof(kma_bump, head) % 128 == 0);
static_assert(sizeof(kma_bump) == offsetof(kma_bump, head) + 128);

} // namespace kma::layout
