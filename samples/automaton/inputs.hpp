// What the automaton reads: the lines of a file.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace automaton {

/// Input i is the characters starts[i] … starts[i + 1] - 1 of the text: as the kernels take them.
struct Inputs {
    std::string text;
    std::vector<std::uint32_t> starts = {0};

    std::uint32_t size() const noexcept { return static_cast<std::uint32_t>(starts.size() - 1); }
    std::string_view operator[](std::size_t i) const
    {
        return std::string_view(text).substr(starts[i], starts[i + 1] - starts[i]);
    }
};

/// The longest input: std::regex, which verifies, calls itself for each character.
inline constexpr std::size_t most_characters = 4096;

/// One input a line: what stands behind its last tab if it has any, as a package's id may come
/// before its name. The first `limit` ones. Throws kma::Error that begins with `name` if there is
/// none, or if one is too long, or all together.
Inputs parse_inputs(std::string_view text, const std::string &name, std::uint32_t limit);

/// The same from a file. Throws kma::Error if it cannot be read.
Inputs read_inputs(const std::filesystem::path &path, std::uint32_t limit);

} // namespace automaton
