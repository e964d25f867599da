// The device's struct definitions, compiled as C++: one definition for both sides.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace kma::layout {

using uchar = unsigned char;
using uint = std::uint32_t;
using ulong = std::uint64_t;
using std::max;
using std::min;
struct kma_atomic_u32 {
    uint word;
};
struct kma_atomic_u64 {
    ulong word;
};

inline uint kma_highest_bit(ulong bits)
{
    return static_cast<uint>(std::bit_width(bits)) - 1;
}

inline uint popcount(uint bits)
{
    return static_cast<uint>(std::popcount(bits));
}

// The variants with 32-bit words have the same sizes and offsets. Kernels decode those words for
// the host (census).
#define KMA_HAS_ATOMIC64 1
#define KMA_PLAIN(T) T
#include "kma/containers/arena_layout.cl"
#include "kma/collect/layout.cl"
#include "kma/containers/array_list_layout.cl"
#include "kma/heap/bump/layout.cl"
#include "kma/heap/scatter/layout.cl"
#include "kma/heap/slab/layout.cl"
#include "kma/heap/common/stats.cl"
#include "kma/heap/superblock/census.cl"
#include "kma/heap/superblock/layout.cl"
#include "kma/objects/reference_layout.cl"
#include "kma/objects/world_layout.cl"

// Device compilers must lay these structs out as this one does.
static_assert(sizeof(kma_error_record) == 32);
static_assert(offsetof(kma_heap_header, errors) == 128);
static_assert(sizeof(kma_heap_header) == 128 + 40 + 32 * KMA_ERROR_CODES * KMA_ERROR_KEPT);
static_assert(offsetof(kma_bump, head) == sizeof(kma_heap_header) + 88 &&
              offsetof(kma_bump, head) % 128 == 0);
static_assert(offsetof(kma_heap_header, collector) == 48 && sizeof(kma_collector) == KMA_UNIT);
static_assert(sizeof(kma_bump) == offsetof(kma_bump, head) + 128);
// sizes that kernels and documents use
static_assert(sizeof(kma_bump) == 2688 && sizeof(kma_guard) == 5248);
static_assert(sizeof(kma_superblock_class) == 128 && sizeof(kma_superblock_state) == 16 &&
              sizeof(kma_superblock_plan) == 52);
// a size that heap/superblock/kernels.cl and the documents use
static_assert(sizeof(kma_superblock) == 10752);
// sizes that heap/scatter/kernels.cl uses
static_assert(sizeof(kma_scatter_plan) == 60 && sizeof(kma_scatter) == 4224);
static_assert(sizeof(kma_array_list) == 36 + 2 * sizeof(kma_array_list_page) &&
              sizeof(kma_array_list_page) == 1024);
static_assert(sizeof(kma_slab_plan) == 56);
static_assert(offsetof(kma_slab, cursors) % 128 == 0 && sizeof(kma_slab) % 128 == 0);
static_assert(sizeof(kma_block_sums) == 20 &&
              sizeof(kma_dangling_log) == 4 + 16 * KMA_DANGLING_KEPT);
static_assert(sizeof(kma_world_block) == 32 && sizeof(kma_world_class) == 256);
static_assert(sizeof(kma_world) % 128 == 0 && offsetof(kma_world, nowhere) % 128 == 0);
static_assert(offsetof(kma_superblock, plan) == sizeof(kma_heap_header));
static_assert(offsetof(kma_superblock, classes) % 128 == 0);
static_assert(sizeof(kma_superblock) ==
              offsetof(kma_superblock, classes) + KMA_CLASSES * sizeof(kma_superblock_class));

} // namespace kma::layout
