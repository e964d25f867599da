// A heap's memory copied to the host, to be walked by refs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "kma/error.hpp"

namespace kma {

/// A place in a heap: its offset from the heap's start in units of 16 bytes; 0 is null. The device's kma_ref.
using Ref = std::uint32_t;
inline constexpr std::uint64_t ref_unit = 16;

/// A copy of a heap from its start to the end of the memory handed out. Independent of the heap and the device.
class Snapshot {
public:
    /// `begin`: bytes of metadata at the start, where no ref leads.
    explicit Snapshot(std::vector<std::byte> bytes, std::uint64_t begin = 0) : bytes_(std::move(bytes)), begin_(begin) {}

    /// The T at `ref`, nullptr for ref 0. Throws Error if any byte of it lies outside the memory handed out, so that
    /// damaged refs are found and not followed.
    template <class T> const T *deref(Ref ref) const
    {
        static_assert(std::is_trivially_copyable_v<T>);
        if (ref == 0)
            return nullptr;
        const std::uint64_t offset = ref * ref_unit;
        if (offset < begin_ || offset > bytes_.size() || bytes_.size() - offset < sizeof(T))
            throw Error("ref " + std::to_string(ref) + " leads outside the memory that the heap has handed out, bytes " +
                        std::to_string(begin_) + " to " + std::to_string(bytes_.size()) + ": a kernel wrote a wrong ref");
        return reinterpret_cast<const T *>(bytes_.data() + offset);
    }

    const std::vector<std::byte> &bytes() const noexcept { return bytes_; }

private:
    std::vector<std::byte> bytes_;
    std::uint64_t begin_;
};

} // namespace kma
