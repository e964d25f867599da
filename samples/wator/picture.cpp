// Colours for cells.
#include "picture.hpp"

#include "common/png.hpp"

namespace wator {

void draw(const Rules &rules, const Grid &grid, const std::filesystem::path &path)
{
    constexpr samples::Colour colours[] = {{8, 16, 48}, {64, 200, 96}, {232, 72, 56}};
    std::vector<samples::Colour> pixels;
    pixels.reserve(grid.size());
    for (const Cell &cell : grid)
        pixels.push_back(colours[static_cast<std::size_t>(cell.who)]);
    samples::write_png(path, rules.width, rules.height, pixels);
}

} // namespace wator
