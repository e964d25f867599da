// The automaton sample's input, and its verifier: it accepts what is right, and finds each way in
// which a run can be wrong.
#include <functional>
#include <string>

#include "catch.hpp"
#include "inputs.hpp"
#include "kma/error.hpp"
#include "verify.hpp"

using automaton::Findings;

TEST_CASE("automaton: lines, their last column, and their ends")
{
    const automaton::Inputs some =
        automaton::parse_inputs("1\tone\r\n\ntwo\n3\t3\tthree", "file", 100);
    REQUIRE(some.size() == 4);
    const char *const expected[] = {"one", "", "two", "three"};
    for (std::size_t i = 0; i < 4; i++)
        CHECK(some[i] == expected[i]);
    CHECK(automaton::parse_inputs("a\nb\nc\n", "file", 2).size() == 2);
    CHECK_THROWS_WITH(automaton::parse_inputs("", "file", 2), "file: the file is empty");
    CHECK_THROWS_WITH(automaton::parse_inputs("a\n" + std::string(5000, 'x'), "file", 2),
                      "file:2: a line of more than 4096 characters");
}

TEST_CASE("automaton: what std::regex matches is expected, and each difference is found")
{
    const automaton::Inputs inputs = automaton::parse_inputs("ab\nb\naab\n", "file", 100);
    const std::vector<std::string> expressions = {"a*b", ".b"};
    const Findings right =
        automaton::expected(inputs, expressions, automaton::compile(expressions));
    CHECK(right.matches == std::vector<automaton::Match>{{0, 0}, {0, 1}, {1, 0}, {2, 0}});
    CHECK(right.items == std::vector<std::uint64_t>{9, 6, 2});
    CHECK(automaton::compare(right, right, inputs, expressions).verified());
    const auto expect = [&](const std::string &difference, auto damage) {
        Findings found = right;
        damage(found);
        CHECK(automaton::compare(right, found, inputs, expressions).differences.at(0) ==
              difference);
    };
    expect("'.b' should match 'ab'", [](Findings &f) { f.matches.erase(f.matches.begin() + 1); });
    expect("'.b' should not match, or not twice, 'aab'", [](Findings &f) {
        f.matches.push_back({2, 1});
    });
    expect("'a*b' should not match, or not twice, 'aab'",
           [](Findings &f) { f.matches.push_back(f.matches.back()); });
    expect("a match of input 3, which there is not", [](Findings &f) {
        f.matches.push_back({3, 0});
    });
    expect("round 1 has 7 items, should have 6", [](Findings &f) { f.items[1]++; });
    expect("round 2 has 0 items, should have 2", [](Findings &f) { f.items.pop_back(); });
    expect("round 3 has 1 items, should have 0", [](Findings &f) { f.items.push_back(1); });
}
