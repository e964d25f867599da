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

// The message that `text` is refused with; empty if it is not.
std::string complaint(const std::string &text, std::uint32_t limit = graph::max_edges)
{
    try {
        graph::parse_edges(text, "f", limit);
        return {};
    } catch (const kma::Error &error) {
        return error.what();
    }
}

} // namespace

TEST_CASE("edges: comments, blank lines, separators and line ends")
{
    const graph::Edges edges = graph::parse_edges("# one\tcomment\r\n"
                                                  "1\t2\n"
                                                  "\n"
                                                  "  # another\n"
                                                  "3 4\r\n"
                                                  " \t 5 \t 6 \t \n"
                                                  "\r\n"
                                                  "007 0",
                                                  "f");
    CHECK(edges.sources == Ids{1, 3, 5, 7});
    CHECK(edges.sinks == Ids{2, 4, 6, 0});
}

TEST_CASE("edges: ids have 32 bits")
{
    const graph::Edges edges = graph::parse_edges("0 4294967295\n", "f");
    CHECK(edges.sources == Ids{0});
    CHECK(edges.sinks == Ids{4294967295u});
    CHECK(complaint("4294967296 1") == "f:1: node id '4294967296' exceeds 32 bits (4294967295 is the largest)");
    CHECK(complaint("1 99999999999999999999999") ==
          "f:1: node id '99999999999999999999999' exceeds 32 bits (4294967295 is the largest)");
    CHECK(complaint("1 -1") == "f:1: node id '-1' is negative (0 is the smallest)");
}

TEST_CASE("edges: malformed lines are named by number")
{
    CHECK(complaint("1 2\n#\n\n3\n") == "f:4: '3' has one node id, an edge needs two");
    CHECK(complaint("1 2\n3 \t\r\n") == "f:2: '3 \?' has one node id, an edge needs two");
    CHECK(complaint("1 2 3\n") == "f:1: unexpected '3' after the second node id");
    CHECK(complaint("1 2 # why\n") == "f:1: unexpected '#' after the second node id");
    for (const std::string word : {"x", "12x", "0x12", "+1", "1.5", "1,2", "-", "--1", "-1x", "1e3", "4294967296x"})
        CHECK(complaint("1 2\n1 " + word + "\n") ==
              "f:2: '" + word + "' is not a node id (a decimal number from 0 to 4294967295)");
    CHECK(complaint("1,2\n") == "f:1: '1,2' is not a node id (a decimal number from 0 to 4294967295)");
    CHECK(complaint(std::string("1 \0\x1b\xff", 5)) ==
          "f:1: '\?\?\?' is not a node id (a decimal number from 0 to 4294967295)");
    CHECK(complaint(std::string(1000, 'x')).size() < 200);
}

TEST_CASE("edges: a file without edges is an error")
{
    CHECK(complaint("") == "f: the file is empty");
    CHECK(complaint("\n# 1 2\n") == "f: no edges in it, only comments or blank lines");
}

TEST_CASE("edges: the limit ends the reading")
{
    const std::string text = "1 2\n3 4\n5 6\nnonsense\n";
    CHECK(graph::parse_edges(text, "f", 1).sources == Ids{1});
    CHECK(graph::parse_edges(text, "f", 3).sources == Ids{1, 3, 5});
    CHECK(complaint(text, 3).empty());
    CHECK(complaint(text, 4).rfind("f:4: ", 0) == 0);
}

TEST_CASE("edges: files")
{
    const std::filesystem::path path = std::filesystem::current_path() / "edges_test.txt";
    std::string text;
    for (int i = 0; i < 100'000; i++) // longer than any chunk it is read in
        text += std::to_string(i) + '\t' + std::to_string(i * 2) + '\n';
    std::ofstream(path, std::ios::binary) << text;
    const graph::Edges edges = graph::read_edges(path);
    std::filesystem::remove(path);
    CHECK(edges.size() == 100'000);
    CHECK(edges.sources.back() == 99'999);
    CHECK(edges.sinks.back() == 199'998);
    CHECK_THROWS_WITH(graph::read_edges(path), path.string() + ": cannot be opened: No such file or directory");
    CHECK_THROWS_WITH(graph::read_edges(path.parent_path()),
                      path.parent_path().string() + ": is a directory, not a file of edges");
}
