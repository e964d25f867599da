// A heap's memory copied to the host, to be walked by refs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "kma/error.hpp"

namespace kma {

/// A place in a heap: its offset from the heap's start in units of 16 bytes; 0 is null. The
/// device's kma_ref.
using Ref = std::uint32_t;
inline constexpr std::uint64_t ref_unit = 16;

/// A copy of the memory that a heap has handed out, as ranges of it: the bump heap's blocks, the
/// superblocks that are not free. Independent of the heap and the device.
class Snapshot {
public:
    /// Adjacent memory of the heap.
    struct Extent {
        std::uint64_t offset;         ///< from the heap's start, in bytes
        std::vector<std::byte> bytes; ///< what was there
    };

    /// In ascending order, none overlapping another.
    explicit Snapshot(std::vector<Extent> extents) : extents_(std::move(extents)) {}

    /// The T at `ref`, nullptr for ref 0. Throws Error if any byte of it lies outside the memory
    /// handed out, so that damaged refs are found and not followed. (A block that is free in a
    /// superblock that is not is no such memory.)
    template <class T> const T *deref(Ref ref) const
    {
        static_assert(std::is_trivially_copyable_v<T>);
        return ref == 0 ? nullptr : reinterpret_cast<const T *>(find(ref, sizeof(T)));
    }

    /// The bytes from `ref` on; none for ref 0. Throws as deref does.
    std::span<const std::byte> bytes(Ref ref, std::uint64_t count) const
    {
        return ref == 0 ? std::span<const std::byte>() : std::span(find(ref, count), count);
    }

    /// What was copied, in ascending order.
    const std::vector<Extent> &extents() const noexcept { return extents_; }

    /// How many bytes were copied, in all extents together.
    std::uint64_t copied_bytes() const noexcept;

    /// Bytes from the heap's start to the end of the last extent; every ref that leads into the
    /// copy is below end() / ref_unit. 0 if nothing was copied.
    std::uint64_t end() const noexcept;

private:
    const std::byte *find(Ref ref, std::uint64_t bytes) const;

    std::vector<Extent> extents_;
};

} // namespace kma
