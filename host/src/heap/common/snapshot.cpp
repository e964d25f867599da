// Finds a ref's bytes in a copy of a heap.
#include "kma/snapshot.hpp"

#include <algorithm>

#include "support/say.hpp"

namespace kma {

std::uint64_t Snapshot::copied_bytes() const noexcept
{
    std::uint64_t sum = 0;
    for (const Extent &extent : extents_)
        sum += extent.bytes.size();
    return sum;
}

std::uint64_t Snapshot::end() const noexcept
{
    return extents_.empty() ? 0 : extents_.back().offset + extents_.back().bytes.size();
}

const std::byte *Snapshot::find(Ref ref, std::uint64_t bytes) const
{
    const std::uint64_t offset = ref * ref_unit;
    auto extent = std::ranges::upper_bound(extents_, offset, {}, &Extent::offset);
    if (extent != extents_.begin()) {
        --extent; // the last extent that begins at `offset` or before
        const std::uint64_t within = offset - extent->offset;
        if (within <= extent->bytes.size() && bytes <= extent->bytes.size() - within)
            return extent->bytes.data() + within;
    }
    std::string where = "nothing";
    if (!extents_.empty())
        where = say("bytes ", extents_.front().offset, " to ", end());
    if (extents_.size() > 1)
        where = say(extents_.size(), " ranges in ", where);
    throw Error(
        say("ref ", ref, " with ", bytes,
            " bytes leads outside the memory that the heap has handed out, ", where,
            "; either a kernel wrote a wrong ref, or the snapshot is older than the block"));
}

} // namespace kma
