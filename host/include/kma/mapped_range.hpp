// A part of a heap, mapped for the host.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <type_traits>

namespace kma {

/// Heap memory mapped for the host. The destructor unmaps it, and must run before the heap's.
/// Kernels must not use the heap while a range is mapped.
class MappedRange {
public:
    /// Move-only; the moved-from range unmaps nothing.
    MappedRange(MappedRange &&other) noexcept;
    /// Unmaps the range that was here.
    MappedRange &operator=(MappedRange &&other) noexcept;
    ~MappedRange();

    /// The mapped bytes, for reading and writing.
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
