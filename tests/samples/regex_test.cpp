// The compiler of regular expressions: what it makes matches what std::regex matches, and what is wrong it says.
#include <random>
#include <regex>
#include <string>
#include <vector>

#include "catch.hpp"
#include "kma/error.hpp"
#include "regex.hpp"

namespace {

bool matches(const std::string &expression, const std::string &input)
{
    return automaton::simulate(automaton::compile({expression}), input).matches.at(0);
}

std::string error_of(const std::string &expression)
{
    try {
        automaton::compile({expression});
        return "";
    } catch (const kma::Error &error) {
        return error.what();
    }
}

// Expressions of all operators, by chance. What is repeated is never empty, for then std::regex takes very long.
class Expressions {
public:
    explicit Expressions(unsigned seed) : random_(seed) {}

    std::string next(unsigned depth, bool may_be_empty = true)
    {
        std::string all = sequence(depth, may_be_empty);
        while (choose(3) == 0)
            all += "|" + sequence(depth, may_be_empty);
        return all;
    }

    std::string input()
    {
        std::string all;
        for (unsigned left = choose(7); left > 0; left--)
            all += "abc-"[choose(4)];
        return all;
    }

private:
    unsigned choose(unsigned below) { return std::uniform_int_distribution<unsigned>(0, below - 1)(random_); }

    std::string sequence(unsigned depth, bool may_be_empty)
    {
        std::string all = may_be_empty ? "" : character();
        for (unsigned left = choose(4); left > 0; left--) {
            const std::string how_often = std::vector<std::string>{"", "", "*", "+", "?"}[choose(5)];
            const bool is_repeated = how_often == "*" || how_often == "+";
            all += depth > 0 && choose(3) == 0 ? "(" + next(depth - 1, !is_repeated) + ")" : character();
            all += how_often;
        }
        return all;
    }

    std::string character()
    {
        return std::vector<std::string>{
            "a", "b", "c", "-", "\\-", ".", "[ab]", "[^ab]", "[b-c]", "[-a]", "[^c-]"}[choose(11)];
    }

    std::mt19937 random_;
};

} // namespace

TEST_CASE("regex: each operator")
{
    CHECK(matches("", ""));
    CHECK_FALSE(matches("", "a"));
    CHECK(matches("ab", "ab"));
    CHECK_FALSE(matches("ab", "abc")); // the whole input
    CHECK_FALSE(matches("b", "ab"));
    CHECK(matches("a|bc", "bc"));
    CHECK(matches("a(b|c)d", "acd"));
    CHECK(matches("a*", ""));
    CHECK(matches("a*", "aaa"));
    CHECK_FALSE(matches("a+", ""));
    CHECK(matches("(ab)+", "abab"));
    CHECK(matches("ab?c", "ac"));
    CHECK_FALSE(matches("ab?c", "abbc"));
    CHECK(matches("(a|)b", "b"));
    CHECK(matches("(a*)*", "aa"));
    CHECK(matches("((|a)+|b*)*c", "abac"));
    CHECK_FALSE(matches("(()*)+", "a"));
    CHECK(matches(".*b.*", "abc"));
    CHECK_FALSE(matches(".", "\r"));
    CHECK(matches("[a-c]x[^a-c]", "bxd"));
    CHECK_FALSE(matches("[^a-c]", "b"));
    CHECK(matches("[-a]", "-"));
    CHECK(matches("[a-]", "-"));
    CHECK(matches("[\\]\\\\\\^]+", "]\\^"));
    CHECK(matches("\\.\\*\\+\\?\\|\\(\\)\\[\\]\\{\\}\\^\\$\\\\", ".*+?|()[]{}^$\\"));
    CHECK(matches("[^a]", "\xff"));
}

TEST_CASE("regex: by chance, as std::regex")
{
    Expressions random(1);
    std::size_t all = 0, matched = 0;
    for (int i = 0; i < 2000; i++) {
        const std::string expression = random.next(2);
        const std::regex by_std(expression);
        const automaton::Automaton automaton = automaton::compile({expression});
        for (int k = 0; k < 10; k++) {
            const std::string input = random.input();
            const bool should_match = std::regex_match(input, by_std);
            INFO(expression << " with " << input);
            REQUIRE(automaton::simulate(automaton, input).matches.at(0) == should_match);
            all++;
            matched += should_match ? 1 : 0;
        }
    }
    CHECK(matched > all / 20); // else it would tell little
    CHECK(matched < all * 19 / 20);
}

TEST_CASE("regex: several in one automaton, and how many states an input is in")
{
    const automaton::Automaton automaton = automaton::compile({"a*", "(a|b)*", "b", ""});
    CHECK(automaton::simulate(automaton, "").matches == std::vector<bool>{true, true, false, true});
    CHECK(automaton::simulate(automaton, "b").matches == std::vector<bool>{false, true, true, false});
    CHECK(automaton::simulate(automaton, "aa").matches == std::vector<bool>{true, true, false, false});
    CHECK(automaton::simulate(automaton, "aa").items ==
          std::vector<std::uint32_t>{4, 3}); // a, a, b, b; then without the last
    CHECK(automaton::simulate(automaton, "").items.empty());
    CHECK(automaton::simulate(automaton, "cc").items == std::vector<std::uint32_t>{4});
}

TEST_CASE("regex: what is wrong")
{
    const auto expect = [](const std::string &expression, const std::string &message) {
        INFO(expression);
        CHECK(error_of(expression) == "regular expression '" + expression + "', character " + message);
    };
    expect("a(b", "4: a ) is missing");
    expect("a)b", "2: this ) has no ( before it");
    expect("*a", "1: there is nothing to repeat");
    expect("a**", "3: there is nothing to repeat");
    expect("(?:a)", "2: there is nothing to repeat");
    expect("a{2}", "2: this has no meaning here; write \\ before the character");
    expect("^a", "1: this has no meaning here; write \\ before the character");
    expect("\\d", "2: behind \\ there are only characters that are neither letters nor digits");
    expect("a\\", "3: the expression ends too early");
    expect("[ab", "4: the expression ends too early");
    expect("[]", "2: an empty set of characters");
    expect("[^]", "3: an empty set of characters");
    expect("[[:alpha:]]", "2: [ in a set of characters is written \\[");
    expect("[z-a]", "5: the range of characters ends before it begins");
    expect("[a-c-e]", "5: - stands first or last in a set, or is written \\-");
    CHECK(error_of("a\tb") == "regular expression 'a?b', character 2: not a printable character of ASCII");
    CHECK(error_of(std::string(4096, 'a')).empty());
    CHECK(error_of(std::string(4097, 'a')).find("character 1: it has more than 4096") != std::string::npos);
    CHECK(error_of(std::string(300, '(')).find("more than 200 parentheses in each other") != std::string::npos);
}
