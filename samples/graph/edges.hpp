// Directed edges, read from a file in SNAP's edge-list form.
//
// One edge per line: the id of the node it leaves, blanks or tabs, the id of the node it enters.
// Ids are decimal numbers of 32 bits. Lines that are blank or begin with '#' do not count. Lines
// end with LF or CR LF.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace graph {

/// Edge i leads from sources[i] to sinks[i]; two arrays, since that is how the kernel takes them.
struct Edges {
    std::vector<std::uint32_t> sources;
    std::vector<std::uint32_t> sinks;

    std::size_t size() const noexcept { return sources.size(); }
};

/// As many edges as the kernel can count.
inline constexpr std::uint32_t max_edges = std::numeric_limits<std::uint32_t>::max();

/// The first `limit` edges of `text`. Throws kma::Error that begins with `name` and the line's
/// number if a line before that has another form, and if there are no edges.
Edges parse_edges(std::string_view text, const std::string &name, std::uint32_t limit = max_edges);

/// The same from a file. Throws kma::Error if it cannot be read.
Edges read_edges(const std::filesystem::path &path, std::uint32_t limit = max_edges);

} // namespace graph
