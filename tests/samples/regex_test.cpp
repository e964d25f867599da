// The compiler of regular expressions: what it makes matches what std::regex matches, and what is
// wrong it says.
#include <random>
#include <regex>
#include <string>
#include <vector>

#include "catch.hpp"
#include "kma/error.hpp"
#include "regex.hpp"

namespace {

using Texts = std::vector<std::string>;

bool matches(const std::string &expression, const std::string &input)
{
    INFO(expression << " with " << input);
    return automaton::simulate(automaton::compile({expression}), input).matches.at(0);
}

// An expression of all operators, by chance. What is repeated is never empty: with that std::regex
// takes very long.
std::string expression(std::mt19937 &random, unsigned depth, bool may_be_empty = true)
{
    static const Texts repeats = {"", "", "*", "+", "?"},
                       characters = {"a",    "b",     "c",     "-",    "\\-",  ".",
                                     "[ab]", "[^ab]", "[b-c]", "[-a]", "[^c-]"};
    const auto one_of = [&](const Texts &all) { return all[random() % all.size()]; };
    std::string all = may_be_empty ? "" : one_of(characters);
    for (unsigned left = random() % 4; left > 0; left--) {
        const std::string repeat = one_of(repeats);
        const bool may_group_be_empty = repeat.empty() || repeat == "?";
        all += depth > 0 && random() % 3 == 0
                   ? "(" + expression(random, depth - 1, may_group_be_empty) + ")"
                   : one_of(characters);
        all += repeat;
    }
    return random() % 3 == 0 ? all + "|" + expression(random, depth, may_be_empty) : all;
}

} // namespace

TEST_CASE("regex: by chance, as std::regex")
{
    std::mt19937 random(1);
    std::size_t all = 0, matched = 0;
    for (int i = 0; i < 2000; i++) {
        const std::string one = expression(random, 2);
        const std::regex by_std(one);
        const automaton::Automaton automaton = automaton::compile({one});
        for (int k = 0; k < 10; k++) {
            std::string input;
            for (unsigned left = random() % 7; left > 0; left--)
                input += "abc-"[random() % 4];
            const bool should_match = std::regex_match(input, by_std);
            INFO(one << " with " << input);
            REQUIRE(automaton::simulate(automaton, input).matches.at(0) == should_match);
            all++;
            matched += should_match ? 1 : 0;
        }
    }
    CHECK(matched > all / 20); // else it would tell little
    CHECK(matched < all * 19 / 20);
}

TEST_CASE("regex: what may be empty, repeated, and characters that chance does not choose")
{
    for (const auto &[expression, input] : std::vector<std::pair<std::string, std::string>>{
             {"", ""},
             {"(a*)*", "aa"},
             {"((|a)+|b*)*c", "abac"},
             {"[a-]", "-"},
             {"[\\]\\\\\\^]+", "]\\^"},
             {"\\.\\*\\+\\?\\|\\(\\)\\[\\]\\{\\}\\^\\$\\\\", ".*+?|()[]{}^$\\"},
             {"[^a]", "\xff"}})
        CHECK(matches(expression, input));
    CHECK_FALSE(matches("(()*)+", "a"));
    CHECK_FALSE(matches(".", "\r"));
}

TEST_CASE("regex: several in one automaton, and how many states an input is in")
{
    const automaton::Automaton automaton = automaton::compile({"a*", "(a|b)*", "b", ""});
    const auto simulate = [&](const char *input) { return automaton::simulate(automaton, input); };
    CHECK(simulate("").matches == std::vector<bool>{true, true, false, true});
    CHECK(simulate("b").matches == std::vector<bool>{false, true, true, false});
    CHECK(simulate("aa").matches == std::vector<bool>{true, true, false, false});
    using Items = std::vector<std::uint32_t>;
    CHECK(simulate("aa").items == Items{4, 3}); // a, a, b, b; then without the last
    CHECK(simulate("").items.empty());
    CHECK(simulate("cc").items == Items{4});
}

TEST_CASE("regex: what is wrong")
{
    const auto error_of = [](const std::string &expression) {
        return message_of<kma::Error>([&] { automaton::compile({expression}); });
    };
    for (const auto &[expression, message] : std::vector<std::pair<std::string, std::string>>{
             {"a(b", "4: a ) is missing"},
             {"a)b", "2: this ) has no ( before it"},
             {"*a", "1: there is nothing to repeat"},
             {"a**", "3: there is nothing to repeat"},
             {"(?:a)", "2: there is nothing to repeat"},
             {"a{2}", "2: this has no meaning here; write \\ before the character"},
             {"^a", "1: this has no meaning here; write \\ before the character"},
             {"\\d", "2: behind \\ there are only characters that are neither letters nor digits"},
             {"a\\", "3: the expression ends too early"},
             {"[ab", "4: the expression ends too early"},
             {"[]", "2: an empty set of characters"},
             {"[^]", "3: an empty set of characters"},
             {"[[:alpha:]]", "2: [ in a set of characters is written \\["},
             {"[z-a]", "5: the range of characters ends before it begins"},
             {"[a-c-e]", "5: - stands first or last in a set, or is written \\-"}})
        CHECK(error_of(expression) ==
              "regular expression '" + expression + "', character " + message);
    CHECK(error_of("a\tb") ==
          "regular expression 'a?b', character 2: not a printable character of ASCII");
    CHECK(error_of(std::string(4096, 'a')) == "no error");
    CHECK_THAT(error_of(std::string(4097, 'a')), contains("character 1: it has more than 4096"));
    CHECK_THAT(error_of(std::string(300, '(')),
               contains("more than 200 parentheses in each other"));
}
