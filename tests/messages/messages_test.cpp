// docs/messages.md against the sources and against the library: every message that the sources have is a row of it,
// every row is a message of the sources, and every row is what a user gets who does something wrong.
#include <algorithm>
#include <map>
#include <set>

#include "../catch.hpp"
#include "provocations.hpp"
#include "rows.hpp"
#include "written.hpp"

using namespace messages;

namespace {

const std::vector<Row> &documented()
{
    static const std::vector<Row> all = rows(KMA_ROOT "/docs/messages.md");
    return all;
}

std::vector<const Row *> rows_of(const std::string &chapter)
{
    std::vector<const Row *> chosen;
    for (const Row &row : documented())
        if (row.chapter == chapter)
            chosen.push_back(&row);
    return chosen;
}

// `within`: the message comes with more text around it. `exempt`: rows that nothing here provokes.
void check_provoked(const std::string &chapter, const std::vector<Provocation> &provocations, bool within = false,
                    const std::set<std::string> &exempt = {})
{
    const std::vector<const Row *> here = rows_of(chapter);
    REQUIRE(!here.empty());
    std::set<const Row *> seen;
    for (const Provocation &provocation : provocations) {
        const std::vector<std::string> texts = provocation.messages();
        if (texts.empty())
            FAIL_CHECK("no message for a user who " << provocation.what);
        for (const std::string &text : texts) {
            const Row *row = best(here, text, within);
            if (row)
                seen.insert(row);
            else
                FAIL_CHECK("\"" << chapter << "\" has no row for what a user reads who " << provocation.what << ":\n"
                                << text);
        }
    }
    for (const Row *row : here)
        if (seen.contains(row) == exempt.contains(row->message))
            FAIL_CHECK("docs/messages.md:" << row->line
                                           << (seen.contains(row) ? ": exempt, but provoked: " : ": not provoked: ")
                                           << row->message);
}

} // namespace

TEST_CASE("every row has a message and an advice, and stands once", "[messages]")
{
    CHECK(documented().size() > 100);
    std::set<std::pair<std::string, std::string>> known;
    for (const Row &row : documented()) {
        INFO("docs/messages.md:" << row.line);
        CHECK(row.chapter != "");
        CHECK(row.message != "");
        CHECK(row.advice != "");
        CHECK(known.emplace(row.chapter, row.message).second);
    }
}

TEST_CASE("the sources have the messages that docs/messages.md has, and no others", "[messages]")
{
    const std::vector<Written> found = written(KMA_ROOT);
    std::map<std::string, std::set<std::string>> by_chapter;
    for (const Written &one : found) {
        by_chapter[one.chapter].insert(one.message);
        const auto here = rows_of(one.chapter);
        if (std::ranges::none_of(here, [&](const Row *row) { return row->message == one.message; }))
            FAIL_CHECK(one.where << ": docs/messages.md has no row in \"" << one.chapter << "\" for: " << one.message);
    }
    for (const auto &[chapter, messages] : by_chapter)
        for (const Row *row : rows_of(chapter))
            if (!messages.contains(row->message))
                FAIL_CHECK("docs/messages.md:" << row->line << ": nothing in the sources says: " << row->message);
    // A scan that finds next to nothing tests nothing.
    CHECK(by_chapter["The host library"].size() >= 45);
    CHECK(by_chapter["Kernels"].size() >= 8);
    CHECK(by_chapter["Heap::check()"].size() >= 35);
    CHECK(by_chapter["World::check()"].size() >= 8);
    CHECK(by_chapter["Compilers"].size() >= 7);
    CHECK(by_chapter["CMake and quickstart"].size() >= 9);
    CHECK(by_chapter["The samples"].size() >= 25);
    CHECK(by_chapter["The kma tool"].size() >= 4);
}

TEST_CASE("the host library's messages", "[messages]")
{
    std::vector<Provocation> all = host_provocations();
    std::ranges::move(file_provocations(), std::back_inserter(all));
    std::ranges::move(object_provocations(), std::back_inserter(all));
    std::ranges::move(collector_provocations(), std::back_inserter(all));
    check_provoked("The host library", all);
}

TEST_CASE("what kernels do wrong", "[messages]")
{
    std::vector<Provocation> all = kernel_provocations();
    std::ranges::move(object_kernel_provocations(), std::back_inserter(all));
    check_provoked("Kernels", all);
}

TEST_CASE("what compilers say", "[messages]")
{
    check_provoked("Compilers", compiler_provocations(), true);
    check_provoked("Compilers in their own words", compiler_word_provocations(), true);
}

TEST_CASE("what OpenCL says itself", "[messages]")
{
    check_provoked("OpenCL's own errors", opencl_provocations());
}

TEST_CASE("what Heap::check() finds", "[messages]")
{
    std::vector<Provocation> all = check_provocations();
    std::ranges::move(scatter_check_provocations(), std::back_inserter(all));
    std::ranges::move(slab_check_provocations(), std::back_inserter(all));
    check_provoked("Heap::check()", all);
}

TEST_CASE("what World::check() finds", "[messages]")
{
    check_provoked("World::check()", world_check_provocations());
}

TEST_CASE("what CMake and quickstart say", "[messages]")
{
    check_provoked("CMake and quickstart", build_provocations(), true);
}

TEST_CASE("what the samples say", "[messages]")
{
    check_provoked("The samples", samples_provocations(), true,
                   {
                       "…:…: …", // around what is wrong with a line, which has rows of its own
                       "…: more than … edges; --limit takes the first ones",               // a file of 8 GiB
                       "…: more than 4 GiB of text; --limit takes the first lines",        // so large, too
                       "the default input … is missing; give a file of edges as argument", // comes with the sources
                       "the default input … is missing; give a file by --names",           // the same
                   });
}

TEST_CASE("what the kma tool says", "[messages]")
{
    check_provoked("The kma tool", tool_provocations(), true);
}

TEST_CASE("a message is matched whole, and … is anything", "[messages]")
{
    CHECK(matches("a 5 b", "a … b"));
    CHECK(matches("a  b", "a … b"));
    CHECK(matches("a 1 b 2 b", "a … b"));
    CHECK_FALSE(matches("a b", "a … b")); // the blank is there twice
    CHECK_FALSE(matches("xa 5 b", "a … b"));
    CHECK_FALSE(matches("a 5 bx", "a … b"));
    CHECK(matches("xa 5 bx", "a … b", true));
    CHECK_FALSE(matches("a 5 c", "a … b", true));
    CHECK(matches("1: 2", "…: …"));
    CHECK_FALSE(matches("1 2", "…: …"));
    CHECK_FALSE(matches("ab", "ab…b"));
    CHECK(matches("abb", "ab…b"));
}
