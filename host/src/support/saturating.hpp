// Saturating sums and products of sizes.
#pragma once

#include <cstdint>
#include <limits>

namespace kma {

inline constexpr std::uint64_t most = std::numeric_limits<std::uint64_t>::max();

/// a + b
constexpr std::uint64_t add_up(std::uint64_t a, std::uint64_t b) noexcept
{
    return a > most - b ? most : a + b;
}

/// a * b
constexpr std::uint64_t multiply(std::uint64_t a, std::uint64_t b) noexcept
{
    return b != 0 && a > most / b ? most : a * b;
}

} // namespace kma
