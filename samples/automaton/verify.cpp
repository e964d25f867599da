// Verifies the matches by std::regex.
#include "verify.hpp"

#include <algorithm>
#include <iterator>
#include <regex>

#include "common/text_file.hpp"
#include "kma/error.hpp"

namespace automaton {
namespace {

std::regex compile_by_std(const std::string &expression)
{
    try {
        return std::regex(expression, std::regex::ECMAScript | std::regex::optimize);
    } catch (const std::regex_error &error) {
        throw kma::Error("std::regex, which is to verify, does not take " +
                         samples::quoted(expression) + ": " + error.what());
    }
}

} // namespace

Findings expected(const Inputs &inputs, const std::vector<std::string> &expressions,
                  const Automaton &automaton)
{
    std::vector<std::regex> by_std;
    std::transform(expressions.begin(), expressions.end(), std::back_inserter(by_std),
                   compile_by_std);
    Findings all;
    for (std::uint32_t i = 0; i < inputs.size(); i++) {
        const std::string_view input = inputs[i];
        for (std::uint32_t k = 0; k < by_std.size(); k++)
            if (std::regex_match(input.begin(), input.end(), by_std[k]))
                all.matches.push_back({i, k});
        const Trace trace = simulate(automaton, input);
        all.items.resize(std::max(all.items.size(), trace.items.size()));
        for (std::size_t round = 0; round < trace.items.size(); round++)
            all.items[round] += trace.items[round];
    }
    return all;
}

samples::Differences compare(const Findings &expected, const Findings &found, const Inputs &inputs,
                             const std::vector<std::string> &expressions)
{
    samples::Differences all;
    const auto say = [&](const std::vector<Match> &some, const std::vector<Match> &others,
                         const char *what) {
        std::vector<Match> only;
        std::set_difference(some.begin(), some.end(), others.begin(), others.end(),
                            std::back_inserter(only));
        for (const Match &match : only)
            if (match.input >= inputs.size() || match.expression >= expressions.size())
                all.differ("a match of input " + std::to_string(match.input) +
                           ", which there is not");
            else
                all.differ(samples::quoted(expressions[match.expression]) + what +
                           samples::quoted(inputs[match.input]));
    };
    say(expected.matches, found.matches, " should match ");
    say(found.matches, expected.matches, " should not match, or not twice, ");
    const std::size_t rounds = std::max(expected.items.size(), found.items.size());
    const auto items = [](const Findings &of, std::size_t round) {
        return round < of.items.size() ? of.items[round] : 0;
    };
    for (std::size_t round = 0; round < rounds; round++)
        if (items(expected, round) != items(found, round))
            all.differ("round " + std::to_string(round) + " has " +
                       std::to_string(items(found, round)) + " items, should have " +
                       std::to_string(items(expected, round)));
    return all;
}

} // namespace automaton
