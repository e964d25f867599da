// Pictures as PNG files.
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

namespace samples {

struct Colour {
    std::uint8_t red, green, blue;
};

/// Writes width * height pixels, row by row from the top. Throws kma::Error if it cannot.
void write_png(const std::filesystem::path &path, std::uint32_t width, std::uint32_t height,
               const std::vector<Colour> &pixels);

/// Returns the path of a step's picture in `folder`: step-00000.png and so on.
std::filesystem::path frame_path(const std::filesystem::path &folder, std::uint32_t step);

} // namespace samples
