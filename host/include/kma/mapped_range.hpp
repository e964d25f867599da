// A part of a heap in the host's reach.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <type_traits>

namespace kma {

/// Heap memory mapped for the host; unmapped on destruction, which must come before the heap's.
/// Kernels must not use the heap meanwhile.
class MappedRange {
public:
    /// Move-only: the range is unmapped once.
    MappedRange(MappedRange &&other) noexcept;
    /// Unmaps what was mapped here before.
    MappedRange &operator=(MappedRange &&other) noexcept;
    ~MappedRange();

    /// What is mapped, to read and to write.
    std::span<std::byte> bytes() const noexcept { return bytes_; }

    /// The same bytes as objects of a trivially copyable T.
    template <class T> std::span<T> as() const noexcept
    {
        static_assert(std::is_trivially_copyable_v<T>);
        return {reinterpret_cast<T *>(bytes_.data()), bytes_.size() / sizeof(T)};
    }

private:
    friend class Heap;
    struct Unmap;
    MappedRange(std::span<std::byte> bytes, std::unique_ptr<Unmap> unmap);
    std::span<std::byte> bytes_;
    std::unique_ptr<Unmap> unmap_;
};

} // namespace kma
