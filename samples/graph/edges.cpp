// Reads edge lists. Errors name the line and the wrong characters: files may have millions of
// lines.
#include "edges.hpp"

#include <algorithm>
#include <charconv>

#include "common/text_file.hpp"
#include "kma/error.hpp"

namespace graph {
namespace {

using samples::quoted;

constexpr std::string_view blanks = " \t";

// Removes the first word from `line` and returns it; empty if there is none.
std::string_view take_word(std::string_view &line)
{
    line.remove_prefix(std::min(line.find_first_not_of(blanks), line.size()));
    const std::string_view word = line.substr(0, line.find_first_of(blanks));
    line.remove_prefix(word.size());
    return word;
}

std::uint32_t parse_id(std::string_view word)
{
    std::uint32_t id = 0;
    const char *end = word.data() + word.size();
    const auto [rest, code] = std::from_chars(word.data(), end, id);
    if (code == std::errc() && rest == end)
        return id;
    if (code == std::errc::result_out_of_range && rest == end)
        throw kma::Error("node id " + quoted(word) +
                         " exceeds 32 bits (4294967295 is the largest)");
    std::int64_t value = 0;
    if (word.front() == '-' && std::from_chars(word.data(), end, value).ptr == end)
        throw kma::Error("node id " + quoted(word) + " is negative (0 is the smallest)");
    throw kma::Error(quoted(word) + " is not a node id (a decimal number from 0 to 4294967295)");
}

// Appends the line's edge, if it has one.
void parse_line(std::string_view line, Edges &edges)
{
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
        const std::string_view line = samples::take_line(text);
        try {
            parse_line(line, edges);
        } catch (const kma::Error &error) {
            throw kma::Error(name + ":" + std::to_string(number) + ": " + error.what());
        }
    }
    if (edges.size() == 0)
        throw kma::Error(name + ": no edges in it, only comments or blank lines");
    if (limit == max_edges && !text.empty())
        throw kma::Error(name + ": more than " + std::to_string(max_edges) +
                         " edges; --limit takes the first ones");
    return edges;
}

Edges read_edges(const std::filesystem::path &path, std::uint32_t limit)
{
    return parse_edges(samples::read_text(path, "edges"), path.string(), limit);
}

} // namespace graph
