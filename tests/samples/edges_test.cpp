// The reader of edge lists: what it takes, and what it says about what it does not.
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "catch.hpp"
#include "edges.hpp"
#include "kma/error.hpp"

namespace {

using Ids = std::vector<std::uint32_t>;

// The message that `text` is refused with; "no error" if it is not.
std::string complaint(const std::string &text, std::uint32_t limit = graph::max_edges)
{
    return message_of<kma::Error>([&] { graph::parse_edges(text, "f", limit); });
}

} // namespace

TEST_CASE("edges: comments, blank lines, separators, line ends, ids of 32 bits")
{
    const graph::Edges edges = graph::parse_edges(
        "# one\tcomment\r\n1\t2\n\n  # another\n3 4\r\n \t 5 \t 6 \t \n\r\n4294967295 1\n007 0",
        "f");
    CHECK(edges.sources == Ids{1, 3, 5, 4294967295u, 7});
    CHECK(edges.sinks == Ids{2, 4, 6, 1, 0});
}

TEST_CASE("edges: malformed lines are named by number")
{
    const std::string large = "exceeds 32 bits (4294967295 is the largest)";
    const std::string no_id = "is not a node id (a decimal number from 0 to 4294967295)";
    const std::vector<std::pair<std::string, std::string>> cases = {
        {"4294967296 1", "1: node id '4294967296' " + large},
        {"1 99999999999999999999999", "1: node id '99999999999999999999999' " + large},
        {"1 -1", "1: node id '-1' is negative (0 is the smallest)"},
        {"1 2\n#\n\n3\n", "4: '3' has one node id, an edge needs two"},
        {"1 2\n3 \t\r\n", "2: '3 \?' has one node id, an edge needs two"},
        {"1 2 3\n", "1: unexpected '3' after the second node id"},
        {"1 2 # why\n", "1: unexpected '#' after the second node id"},
        {"1,2\n", "1: '1,2' " + no_id},
        {std::string("1 \0\x1b\xff", 5), "1: '\?\?\?' " + no_id},
        {"", " the file is empty"},
        {"\n# 1 2\n", " no edges in it, only comments or blank lines"}};
    for (const auto &[text, message] : cases)
        CHECK(complaint(text) == "f:" + message);
    for (const std::string word :
         {"x", "12x", "0x12", "+1", "1.5", "1,2", "-", "--1", "-1x", "1e3", "4294967296x"})
        CHECK(complaint("1 2\n1 " + word + "\n") == "f:2: '" + word + "' " + no_id);
    CHECK(complaint(std::string(1000, 'x')).size() < 200);
}

TEST_CASE("edges: the limit ends the reading")
{
    const std::string text = "1 2\n3 4\n5 6\nnonsense\n";
    CHECK(graph::parse_edges(text, "f", 1).sources == Ids{1});
    CHECK(graph::parse_edges(text, "f", 3).sources == Ids{1, 3, 5});
    CHECK(complaint(text, 3) == "no error");
    CHECK(complaint(text, 4).starts_with("f:4: "));
}

TEST_CASE("edges: files longer than any chunk they are read in")
{
    const std::filesystem::path path = std::filesystem::current_path() / "edges_test.txt";
    std::string text;
    for (int i = 0; i < 100'000; i++)
        text += std::to_string(i) + '\t' + std::to_string(i * 2) + '\n';
    std::ofstream(path, std::ios::binary) << text;
    const graph::Edges edges = graph::read_edges(path);
    std::filesystem::remove(path);
    CHECK(edges.size() == 100'000);
    CHECK(edges.sources.back() == 99'999);
    CHECK(edges.sinks.back() == 199'998);
    CHECK_THROWS_WITH(graph::read_edges(path),
                      path.string() + ": cannot be opened: No such file or directory");
    CHECK_THROWS_WITH(graph::read_edges(path.parent_path()),
                      path.parent_path().string() + ": is a directory, not a file of edges");
}
