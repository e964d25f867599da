// Regular expressions, compiled to one non-deterministic automaton (Thompson, 1968) without empty moves.
//
//   c          a character, other than those below; \c: any character that is no letter and no digit
//   .          any character but CR and LF
//   [a-z09]    one of these; [^a-z09] any but these. ] and \ in it are written \] and \\, - stands first or last, or as
//   \- r*, r+, r? as often as one likes; once at least; once or not at all rs, r|s    one behind the other; one of
//   both. (r): parentheses
//
// An expression stands for a whole input: .*r.* finds r anywhere. All of it means the same in ECMAScript, and thus in
// std::regex.
#pragma once

#include <bitset>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace automaton {

using Characters = std::bitset<256>;

/// A state waits for one of its characters, and is left for all its followers at once.
struct State {
    Characters characters;
    std::vector<std::uint32_t> followers; ///< numbers of states, ascending
    bool accepts = false;                 ///< the end of an expression: no characters, no followers
};

/// All expressions together.
struct Automaton {
    std::vector<State> states; ///< 0 is the start: no characters, where all expressions begin are its followers
    std::vector<std::uint32_t> accepting; ///< of each expression the state in which it ends
};

/// Compiles them. Throws kma::Error that says in which one, and at which character, something is wrong.
Automaton compile(const std::vector<std::string> &expressions);

/// What the automaton does with an input, on the host: which expressions match, and in how many states it waits in each
/// round.
struct Trace {
    std::vector<bool> matches;        ///< one for each expression
    std::vector<std::uint32_t> items; ///< one for each round that has any
};
Trace simulate(const Automaton &automaton, std::string_view input);

} // namespace automaton
