// The torus as a picture.
#pragma once

#include <filesystem>

#include "ocean.hpp"

namespace wator {

/// Writes a PNG file, a pixel for each cell: water dark, fish green, sharks red. Throws kma::Error if it cannot.
void draw(const Rules &rules, const Grid &grid, const std::filesystem::path &path);

} // namespace wator
