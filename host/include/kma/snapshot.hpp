// A copy of a heap's memory on the host, read by refs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "kma/error.hpp"

namespace kma {

/// A reference to a block: its offset from the heap's start in units of 16 bytes; 0 is null. The
/// device's kma_ref.
using Ref = std::uint32_t;
inline constexpr std::uint64_t ref_unit = 16;

/// A copy of a heap's allocated memory, as extents: the bump heap's blocks, or the superblocks that
/// are not free. Independent of the heap and the device.
class Snapshot {
public:
    /// A contiguous part of the heap.
    struct Extent {
        std::uint64_t offset;         ///< from the heap's start, in bytes
        std::vector<std::byte> bytes; ///< its contents
    };

    /// `extents` must be ascending and must not overlap.
    explicit Snapshot(std::vector<Extent> extents) : extents_(std::move(extents)) {}

    /// The T at `ref`; nullptr for ref 0. Throws Error if any of its bytes lie outside the extents,
    /// as with a damaged ref. A ref to a free block in a superblock that is not free does not
    /// throw.
    template <class T> const T *deref(Ref ref) const
    {
        static_assert(std::is_trivially_copyable_v<T>);
        return ref == 0 ? nullptr : reinterpret_cast<const T *>(find(ref, sizeof(T)));
    }

    /// `count` bytes at `ref`; none for ref 0. Throws as deref does.
    std::span<const std::byte> bytes(Ref ref, std::uint64_t count) const
    {
        return ref == 0 ? std::span<const std::byte>() : std::span(find(ref, count), count);
    }

    /// The copied extents, in ascending order.
    const std::vector<Extent> &extents() const noexcept { return extents_; }

    /// Bytes of all extents.
    std::uint64_t copied_bytes() const noexcept;

    /// Bytes from the heap's start to the end of the last extent; 0 if there is none. Every ref
    /// into the copy is below end() / ref_unit.
    std::uint64_t end() const noexcept;

private:
    const std::byte *find(Ref ref, std::uint64_t bytes) const;

    std::vector<Extent> extents_;
};

} // namespace kma
