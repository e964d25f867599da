// Mapping and unmapping of heap memory.
#include "device/mapped_range.hpp"

#include <utility>

namespace kma {

MappedRange::Unmap::~Unmap()
{
    try {
        memory.unmap(queue, mapped);
    } catch (const cl::Error &) {
        // A destructor must not throw.
    }
}

MappedRange::MappedRange(std::span<std::byte> bytes, std::unique_ptr<Unmap> unmap)
    : bytes_(bytes), unmap_(std::move(unmap))
{
}
MappedRange::MappedRange(MappedRange &&) noexcept = default;
MappedRange &MappedRange::operator=(MappedRange &&) noexcept = default;
MappedRange::~MappedRange() = default;

} // namespace kma
