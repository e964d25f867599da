// Regular expressions, compiled to one non-deterministic automaton (Thompson, 1968) without empty
// moves.
//
//   c           the character c, unless it has a meaning below
//   \c          any character that is neither letter nor digit
//   .           any character but CR and LF
//   [a-z09]     one of these characters
//   [^a-z09]    any character but these
//   \] \\ \-    ], \ and - in a set; - may also stand first or last
//   r* r+ r?    r any number of times; at least once; at most once
//   rs          r, then s
//   r|s         r or s
//   (r)         r
//
// An expression matches a whole input: .*r.* finds r anywhere. It means the same in ECMAScript, and
// therefore in std::regex.
#pragma once

#include <bitset>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace automaton {

using Characters = std::bitset<256>;

/// A state waits for one of its characters, then leads to all its followers at once.
struct State {
    Characters characters;
    std::vector<std::uint32_t> followers; ///< numbers of states, ascending
    bool accepts = false;                 ///< the end of an expression: no characters, no followers
};

/// All expressions together.
struct Automaton {
    /// 0 is the start: it has no characters; its followers are the first states of all expressions
    std::vector<State> states;
    std::vector<std::uint32_t> accepting; ///< for each expression the state in which it ends
};

/// Compiles the expressions. Throws kma::Error that names the expression and the character that is
/// wrong.
Automaton compile(const std::vector<std::string> &expressions);

/// The automaton's run on one input, simulated on the host.
struct Trace {
    std::vector<bool> matches;        ///< for each expression whether it matches
    std::vector<std::uint32_t> items; ///< states in which the input waits, for each round
};
Trace simulate(const Automaton &automaton, std::string_view input);

} // namespace automaton
