// The kinds of heap.
#pragma once

#include <cstdint>

namespace kma {

/// Which allocator; the file of that name in cl/kma/heap/ has its properties.
enum class HeapKind : std::uint32_t { bump = 1, superblock = 2, scatter = 3, slab = 4 };

/// All of them.
inline constexpr HeapKind heap_kinds[] = {HeapKind::slab, HeapKind::superblock, HeapKind::bump,
                                          HeapKind::scatter};

/// What kma_malloc and HeapOptions mean where nobody says otherwise.
inline constexpr HeapKind default_heap_kind = HeapKind::slab;

/// The kind as device code writes it: KMA_HEAP, and the NAME in kma_NAME_malloc.
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
