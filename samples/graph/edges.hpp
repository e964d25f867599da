// Directed edges, read from a file in SNAP's edge-list form.
//
// One edge per line: the id of its source, blanks or tabs, the id of its sink. Ids are decimal
// numbers of 32 bits. Blank lines and lines that begin with '#' are ignored. Lines end with LF or
// CR LF.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace graph {

/// Edge i leads from sources[i] to sinks[i]: two arrays, which is the kernels' layout.
struct Edges {
    std::vector<std::uint32_t> sources;
    std::vector<std::uint32_t> sinks;

    std::size_t size() const noexcept { return sources.size(); }
};

/// The most edges that the kernel can count.
inline constexpr std::uint32_t max_edges = std::numeric_limits<std::uint32_t>::max();

/// Returns the first `limit` edges of `text`. Throws kma::Error that begins with `name` and the
/// line's number if a line up to there is malformed, or if there are no edges.
Edges parse_edges(std::string_view text, const std::string &name, std::uint32_t limit = max_edges);

/// Does the same for a file. Throws kma::Error if it cannot be read.
Edges read_edges(const std::filesystem::path &path, std::uint32_t limit = max_edges);

} // namespace graph
