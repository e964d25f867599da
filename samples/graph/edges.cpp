// Reads edge lists. What is wrong with a line is said with its number and the very characters, so that a file of
// millions of lines can be mended.
#include "edges.hpp"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <fstream>
#include <iterator>

#include "kma/error.hpp"

namespace graph {
namespace {

constexpr std::string_view blanks = " \t";

// Takes the first word off `line`; empty if there is none.
std::string_view take_word(std::string_view &line)
{
    line.remove_prefix(std::min(line.find_first_not_of(blanks), line.size()));
    const std::string_view word = line.substr(0, line.find_first_of(blanks));
    line.remove_prefix(word.size());
    return word;
}

// `text` in quotes, fit for a terminal: cut if long, other than plain characters as '?'.
std::string quoted(std::string_view text)
{
    constexpr std::size_t longest = 40;
    std::string shown(text.substr(0, longest));
    const auto unfit = [](unsigned char c) { return c < 0x20 || c > 0x7e; };
    std::replace_if(shown.begin(), shown.end(), unfit, '?');
    return "'" + shown + (text.size() > longest ? "…'" : "'");
}

std::uint32_t parse_id(std::string_view word)
{
    std::uint32_t id = 0;
    const char *end = word.data() + word.size();
    const auto [rest, code] = std::from_chars(word.data(), end, id);
    if (code == std::errc() && rest == end)
        return id;
    if (code == std::errc::result_out_of_range && rest == end)
        throw kma::Error("node id " + quoted(word) + " exceeds 32 bits (4294967295 is the largest)");
    std::int64_t value = 0;
    if (word.front() == '-' && std::from_chars(word.data(), end, value).ptr == end)
        throw kma::Error("node id " + quoted(word) + " is negative (0 is the smallest)");
    throw kma::Error(quoted(word) + " is not a node id (a decimal number from 0 to 4294967295)");
}

// Adds the edge of one line, if it has one.
void parse_line(std::string_view line, Edges &edges)
{
    if (!line.empty() && line.back() == '\r')
        line.remove_suffix(1);
    const std::string_view whole = line;
    const std::string_view first = take_word(line);
    if (first.empty() || first.front() == '#')
        return;
    const std::uint32_t source = parse_id(first);
    const std::string_view second = take_word(line);
    if (second.empty())
        throw kma::Error(quoted(whole) + " has one node id, an edge needs two");
    const std::uint32_t sink = parse_id(second);
    if (const std::string_view third = take_word(line); !third.empty())
        throw kma::Error("unexpected " + quoted(third) + " after the second node id");
    edges.sources.push_back(source);
    edges.sinks.push_back(sink);
}

} // namespace

Edges parse_edges(std::string_view text, const std::string &name, std::uint32_t limit)
{
    if (text.empty())
        throw kma::Error(name + ": the file is empty");
    Edges edges;
    for (std::uint64_t number = 1; !text.empty() && edges.size() < limit; number++) {
        const std::string_view line = text.substr(0, text.find('\n'));
        text.remove_prefix(std::min(line.size() + 1, text.size()));
        try {
            parse_line(line, edges);
        } catch (const kma::Error &error) {
            throw kma::Error(name + ":" + std::to_string(number) + ": " + error.what());
        }
    }
    if (edges.size() == 0)
        throw kma::Error(name + ": no edges in it, only comments or blank lines");
    if (limit == max_edges && !text.empty())
        throw kma::Error(name + ": more than " + std::to_string(max_edges) + " edges; --limit takes the first ones");
    return edges;
}

Edges read_edges(const std::filesystem::path &path, std::uint32_t limit)
{
    std::error_code error;
    if (std::filesystem::is_directory(path, error))
        throw kma::Error(path.string() + ": is a directory, not a file of edges");
    errno = 0;
    std::ifstream file(path, std::ios::binary);
    if (!file)
        throw kma::Error(path.string() + ": cannot be opened: " + std::strerror(errno));
    std::string text;
    // A pipe has no size, so this only spares a regular file the growing.
    if (const auto size = std::filesystem::file_size(path, error); !error)
        text.reserve(size);
    char chunk[1 << 16];
    while (file.read(chunk, sizeof chunk), file.gcount() > 0)
        text.append(chunk, static_cast<std::size_t>(file.gcount()));
    if (file.bad())
        throw kma::Error(path.string() + ": cannot be read: " + std::strerror(errno));
    return parse_edges(text, path.string(), limit);
}

} // namespace graph
