// The automaton's inputs: the lines of a file.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace automaton {

/// Input i is the characters starts[i] … starts[i + 1] - 1 of the text, which is the kernels'
/// layout.
struct Inputs {
    std::string text;
    std::vector<std::uint32_t> starts = {0};

    std::uint32_t size() const noexcept { return static_cast<std::uint32_t>(starts.size() - 1); }
    std::string_view operator[](std::size_t i) const
    {
        return std::string_view(text).substr(starts[i], starts[i + 1] - starts[i]);
    }
};

/// The longest input. std::regex, which verifies the matches, recurses for each character.
inline constexpr std::size_t most_characters = 4096;

/// Takes one input per line: the text after the line's last tab, because a package's id may come
/// before its name. Stops after `limit` inputs. Throws kma::Error that begins with `name` if there
/// is no input, or if one of them or all together are too long.
Inputs parse_inputs(std::string_view text, const std::string &name, std::uint32_t limit);

/// Does the same for a file. Throws kma::Error if it cannot be read.
Inputs read_inputs(const std::filesystem::path &path, std::uint32_t limit);

} // namespace automaton
