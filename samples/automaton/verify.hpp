// What must come out, found by std::regex, and the comparison with what the device found.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <vector>

#include "common/differences.hpp"
#include "inputs.hpp"
#include "regex.hpp"

namespace automaton {

/// An expression matches an input.
struct Match {
    std::uint32_t input;
    std::uint32_t expression;
    auto operator<=>(const Match &) const = default;
};

/// What a run finds: matches in ascending order, and the items of each round.
struct Findings {
    std::vector<Match> matches;
    std::vector<std::uint64_t> items;
};

/// Matches by std::regex, which has nothing in common with the automaton; items by simulate(), as
/// many as there are pairs of input and state.
Findings expected(const Inputs &inputs, const std::vector<std::string> &expressions,
                  const Automaton &automaton);

/// Where `found` is not what was expected.
samples::Differences compare(const Findings &expected, const Findings &found, const Inputs &inputs,
                             const std::vector<std::string> &expressions);

} // namespace automaton
