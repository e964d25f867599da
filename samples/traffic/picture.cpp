// The map with its vehicles.
#include <algorithm>
#include <cmath>

#include "common/png.hpp"
#include "network.hpp"

namespace traffic {
namespace {

constexpr double longest_side = 960, largest_scale = 5; // in pixels; pixels per cell

// Maps 0 … 1 to red, yellow, green.
samples::Colour colour_of(double share)
{
    const auto mix = [](double from, double to, double part) {
        return static_cast<std::uint8_t>(from + part * (to - from));
    };
    const double low = std::min(1.0, 2 * share), high = std::max(0.0, 2 * share - 1);
    return {mix(mix(236, 250, low), 80, high), mix(mix(48, 214, low), 208, high),
            mix(mix(48, 80, low), 120, high)};
}

// The pixels: streets, and the mean speed of vehicles.
class Canvas {
public:
    Canvas(const Rules &rules)
        : scale_(std::min(largest_scale,
                          longest_side / (rules.block * std::max(rules.columns, rules.rows))))
    {
        width_ = side(rules.block * rules.columns);
        height_ = side(rules.block * rules.rows);
        pixels_.resize(std::size_t{width_} * height_);
    }
    // Draws a disc of `size` cells in diameter.
    void dot(Place at, double size, const samples::Colour &colour)
    {
        const double radius = std::max(0.5, 0.5 * size * scale_), x = at.x * scale_,
                     y = at.y * scale_;
        for (double row = std::ceil(y - radius - 0.5); row + 0.5 <= y + radius; row++)
            for (double column = std::ceil(x - radius - 0.5); column + 0.5 <= x + radius; column++)
                if (std::hypot(column + 0.5 - x, row + 0.5 - y) <= std::max(radius, 0.71) &&
                    row >= 0 && row < height_ && column >= 0 && column < width_)
                    pixels_[static_cast<std::size_t>(row) * width_ +
                            static_cast<std::size_t>(column)]
                        .add(colour);
    }
    // Starts a new layer above everything drawn so far.
    void above()
    {
        for (Pixel &pixel : pixels_)
            pixel.is_covered = true;
    }
    void write(const std::filesystem::path &path) const
    {
        std::vector<samples::Colour> colours;
        for (const Pixel &pixel : pixels_)
            colours.push_back(pixel.mean());
        samples::write_png(path, width_, height_, colours);
    }

private:
    struct Pixel {
        std::uint32_t red = 16, green = 20, blue = 32, count = 1;
        bool is_covered = true; // by the next drawing
        void add(const samples::Colour &colour)
        {
            if (is_covered)
                *this = {0, 0, 0, 0, false};
            red += colour.red;
            green += colour.green;
            blue += colour.blue;
            count++;
        }
        samples::Colour mean() const
        {
            return {static_cast<std::uint8_t>(red / count),
                    static_cast<std::uint8_t>(green / count),
                    static_cast<std::uint8_t>(blue / count)};
        }
    };
    std::uint32_t side(std::uint32_t cells) const
    {
        return std::max(1u, static_cast<std::uint32_t>(std::ceil(cells * scale_)));
    }

    double scale_; // pixels per cell
    std::uint32_t width_ = 0, height_ = 0;
    std::vector<Pixel> pixels_;
};

// Shifts a cell's position to the right of its direction, which keeps both directions apart.
Place to_the_right(const Network &network, std::uint32_t cell)
{
    const auto [begin, end] = network.ends[network.street_of[cell]];
    const Place from = network.intersections[begin], to = network.intersections[end],
                at = network.place_of(cell);
    const double length = std::max(1e-9, std::hypot(to.x - from.x, to.y - from.y));
    return {at.x - 0.5 * (to.y - from.y) / length, at.y + 0.5 * (to.x - from.x) / length};
}

} // namespace

void draw(const Rules &rules, const Network &network, const Spots &spots,
          const std::filesystem::path &path)
{
    Canvas canvas(rules);
    for (std::uint32_t cell = 0; cell < network.cells(); cell++)
        canvas.dot(to_the_right(network, cell), 1.4, {64, 70, 88});
    canvas.above();
    for (std::uint32_t cell = 0; cell < network.cells(); cell++)
        if (network.is_sink[cell])
            canvas.dot(to_the_right(network, cell), 1, {88, 136, 248});
    canvas.above();
    for (std::uint32_t cell = 0; cell < network.cells(); cell++)
        if (spots[cell].is_taken)
            canvas.dot(to_the_right(network, cell), 1,
                       colour_of(static_cast<double>(spots[cell].speed) / rules.max_speed));
    canvas.write(path);
}

} // namespace traffic
