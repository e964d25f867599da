// The host's own symbolic differentiation, which tells what the device must find.
#pragma once

#include <cstdint>

namespace symbolic {

struct Outcome {
    std::uint32_t check;   ///< hash of the expressions of all rounds
    std::uint64_t objects; ///< that were made
};

/// What becomes of expression number `index` in so many rounds.
Outcome differentiate(std::uint32_t index, std::uint32_t rounds);

} // namespace symbolic
