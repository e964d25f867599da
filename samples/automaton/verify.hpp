// The expected results, by std::regex, and their comparison with the device's.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <vector>

#include "common/differences.hpp"
#include "inputs.hpp"
#include "regex.hpp"

namespace automaton {

/// An expression that matches an input.
struct Match {
    std::uint32_t input;
    std::uint32_t expression;
    auto operator<=>(const Match &) const = default;
};

/// The results of a run: matches in ascending order, and the number of items of each round.
struct Findings {
    std::vector<Match> matches;
    std::vector<std::uint64_t> items;
};

/// Returns the matches by std::regex, which shares no code with the automaton, and the number of
/// items by simulate(): one per pair of input and state.
Findings expected(const Inputs &inputs, const std::vector<std::string> &expressions,
                  const Automaton &automaton);

/// Returns the differences between `found` and `expected`.
samples::Differences compare(const Findings &expected, const Findings &found, const Inputs &inputs,
                             const std::vector<std::string> &expressions);

} // namespace automaton
