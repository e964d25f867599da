// What the suite asks of kma::Heap and kma::HeapOptions beside creating a heap and reading its errors. All that a heap
// class may lack is asked for here and nowhere else; a change of such a detail is a change of this file.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "kma/kma.hpp"

namespace conformance {

/// The options with which heap and program agree.
template <class Options = kma::HeapOptions>
Options heap_options(kma::HeapKind kind, int debug, std::uint64_t superblock_bytes, const std::string &build_options)
{
    Options options;
    options.kind = kind;
    options.debug = debug;
    if constexpr (requires { options.superblock_bytes; })
        options.superblock_bytes = static_cast<decltype(options.superblock_bytes)>(superblock_bytes);
    if constexpr (requires { options.build_options; })
        options.build_options = build_options;
    return options;
}

/// Heap::check(): the invariants that are broken. Where there is none, what the statistics show.
template <class Heap> std::vector<std::string> findings(const Heap &heap)
{
    if constexpr (requires { heap.check(); })
        return heap.check();
    else
        return heap.stats().used <= heap.stats().capacity ? std::vector<std::string>{}
                                                          : std::vector<std::string>{"more used than there is"};
}

struct Living {
    std::uint64_t blocks, bytes;
};

/// Heap::leaks(): the blocks that nobody freed. None where it does not exist. Only for heaps that know their blocks.
template <class Heap> std::optional<Living> leaks(const Heap &heap)
{
    if constexpr (requires { heap.leaks().blocks; }) {
        const auto found = heap.leaks();
        return Living{found.blocks, found.bytes};
    } else {
        return {};
    }
}

/// HeapStats::blocks, the number of living blocks, where it exists.
template <class Stats> std::optional<std::uint64_t> living_blocks(const Stats &stats)
{
    if constexpr (requires { stats.blocks; })
        return stats.blocks;
    else
        return {};
}

} // namespace conformance
