// The automaton sample's input, and its verifier: it accepts what is right, and finds each way in which a run can be
// wrong.
#include <functional>
#include <string>

#include "catch.hpp"
#include "inputs.hpp"
#include "kma/error.hpp"
#include "verify.hpp"

namespace {

using automaton::Findings;

const automaton::Inputs inputs = automaton::parse_inputs("ab\nb\naab\n", "file", 100);
const std::vector<std::string> expressions = {"a*b", ".b"};

Findings right()
{
    return automaton::expected(inputs, expressions, automaton::compile(expressions));
}

// The first difference if this is done to what is right.
std::string after(const std::function<void(Findings &)> &damage)
{
    Findings found = right();
    damage(found);
    const samples::Differences differences = automaton::compare(right(), found, inputs, expressions);
    return differences.verified() ? "none" : differences.differences.at(0);
}

} // namespace

TEST_CASE("automaton: lines, their last column, and their ends")
{
    const automaton::Inputs some = automaton::parse_inputs("1\tone\r\n\ntwo\n3\t3\tthree", "file", 100);
    REQUIRE(some.size() == 4);
    CHECK(some[0] == "one");
    CHECK(some[1].empty());
    CHECK(some[2] == "two");
    CHECK(some[3] == "three");
    CHECK(automaton::parse_inputs("a\nb\nc\n", "file", 2).size() == 2);
    CHECK_THROWS_WITH(automaton::parse_inputs("", "file", 2), "file: the file is empty");
    CHECK_THROWS_WITH(automaton::parse_inputs("a\n" + std::string(5000, 'x'), "file", 2),
                      "file:2: a line of more than 4096 characters");
}

TEST_CASE("automaton: what std::regex matches is expected")
{
    CHECK(right().matches == std::vector<automaton::Match>{{0, 0}, {0, 1}, {1, 0}, {2, 0}});
    CHECK(right().items == std::vector<std::uint64_t>{9, 6, 2});
}

TEST_CASE("automaton: each difference is found")
{
    CHECK(after([](Findings &) {}) == "none");
    CHECK(after([](Findings &found) { found.matches.erase(found.matches.begin() + 1); }) == "'.b' should match 'ab'");
    CHECK(after([](Findings &found) {
              found.matches.push_back({2, 1});
          }) == "'.b' should not match, or not twice, 'aab'");
    CHECK(after([](Findings &found) { found.matches.push_back(found.matches.back()); }) ==
          "'a*b' should not match, or not twice, 'aab'");
    CHECK(after([](Findings &found) { found.matches.push_back({3, 0}); }) == "a match of input 3, which there is not");
    CHECK(after([](Findings &found) { found.items[1]++; }) == "round 1 has 7 items, should have 6");
    CHECK(after([](Findings &found) { found.items.pop_back(); }) == "round 2 has 0 items, should have 2");
    CHECK(after([](Findings &found) { found.items.push_back(1); }) == "round 3 has 1 items, should have 0");
}
