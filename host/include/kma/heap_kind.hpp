// The kinds of heap.
#pragma once

#include <cstdint>

namespace kma {

/// The allocator of a heap; the file of that name in cl/kma/heap/ describes it.
enum class HeapKind : std::uint32_t { bump = 1, superblock = 2, scatter = 3, slab = 4 };

/// All kinds.
inline constexpr HeapKind heap_kinds[] = {HeapKind::slab, HeapKind::superblock, HeapKind::bump,
                                          HeapKind::scatter};

/// The kind that kma_malloc and HeapOptions use by default.
inline constexpr HeapKind default_heap_kind = HeapKind::slab;

/// The kind's name in device code: KMA_HEAP, and NAME in kma_NAME_malloc.
constexpr const char *name_of(HeapKind kind) noexcept
{
    switch (kind) {
    case HeapKind::bump:
        return "bump";
    case HeapKind::superblock:
        return "superblock";
    case HeapKind::scatter:
        return "scatter";
    case HeapKind::slab:
        return "slab";
    }
    return "unknown";
}

} // namespace kma
