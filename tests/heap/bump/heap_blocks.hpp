// Blocks as the tests of heaps see them: intervals of a heap that must not overlap.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "support.hpp"

namespace test {

/// What a block of `bytes` takes from a heap.
inline std::uint64_t rounded(std::uint64_t bytes, int debug = 0)
{
    return bytes == 0 ? 0 : (bytes + 15) / 16 * 16 + (debug ? 16 : 0);
}

/// Whether the blocks at `refs` of `sizes` bytes lie in the heap's handed-out part, each alone. Ref 0 is no block.
inline bool lie_apart(const kma::HeapStats &stats, const std::vector<cl_uint> &refs, const std::vector<cl_ulong> &sizes)
{
    struct Interval {
        std::uint64_t begin, end;
    };
    std::vector<Interval> blocks;
    for (std::size_t i = 0; i < refs.size(); i++)
        if (refs[i] != 0)
            blocks.push_back({refs[i] * kma::ref_unit, refs[i] * kma::ref_unit + rounded(sizes[i])});
    std::ranges::sort(blocks, {}, &Interval::begin);
    std::uint64_t end = kma::Heap::bytes_for(stats.kind, 0);
    const std::uint64_t last = end + stats.used;
    for (const Interval &block : blocks) {
        if (block.begin < end)
            return false;
        end = block.end;
    }
    return end <= last;
}

/// How many of `refs` are blocks, and their bytes as the heap counts them.
inline std::size_t served(const std::vector<cl_uint> &refs)
{
    return static_cast<std::size_t>(std::ranges::count_if(refs, [](cl_uint ref) { return ref != 0; }));
}
inline std::uint64_t served_bytes(const std::vector<cl_uint> &refs, const std::vector<cl_ulong> &sizes, int debug = 0)
{
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < refs.size(); i++)
        sum += refs[i] != 0 ? rounded(sizes[i], debug) : 0;
    return sum;
}

inline std::uint64_t count_of(const kma::HeapStats &stats, kma::ErrorCode code)
{
    return stats.errors[static_cast<std::size_t>(code)];
}

inline kma::Heap bump_heap(std::uint64_t payload, int debug = 0, kma::Storage storage = kma::Storage::buffer)
{
    return {device(),
            kma::Heap::bytes_for(kma::HeapKind::bump, payload),
            {.kind = kma::HeapKind::bump, .storage = storage, .debug = debug}};
}

/// One malloc per size on a flavour's program, in one launch.
inline std::vector<cl_uint> request(const kma::Program &program, const kma::Heap &heap,
                                    const std::vector<cl_ulong> &sizes)
{
    const Array<cl_uint> refs(sizes.size(), 0);
    launch(program, "request", {sizes.size(), sizes.size() < 64 ? sizes.size() : 64}, heap, Array<cl_ulong>(sizes),
           refs);
    return refs.read();
}

} // namespace test
