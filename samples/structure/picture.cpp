// Draws springs as lines: grey at rest, blue under compression, and yellow to red as the pull
// approaches their strength.
#include <algorithm>
#include <cmath>

#include "common/png.hpp"
#include "mesh.hpp"

namespace structure {
namespace {

constexpr double longest_side = 1000; // pixels
constexpr double room = 0.3;          // above the mesh, relative to its height

samples::Colour mix(samples::Colour from, samples::Colour to, double part)
{
    const auto between = [part](std::uint8_t a, std::uint8_t b) {
        return static_cast<std::uint8_t>(a + part * (b - a));
    };
    return {between(from.red, to.red), between(from.green, to.green), between(from.blue, to.blue)};
}

// Returns the colour of a spring. `load` is its force relative to its strength, negative under
// compression.
samples::Colour colour_of(double load)
{
    constexpr samples::Colour rest{112, 116, 124}, pressed{64, 120, 255}, half{250, 214, 80},
        full{236, 48, 48};
    if (load < 0)
        return mix(rest, pressed, std::min(1.0, -2 * load));
    return load < 0.5 ? mix(rest, half, 2 * load) : mix(half, full, std::min(1.0, 2 * load - 1));
}

class Canvas {
public:
    explicit Canvas(const Rules &rules)
    {
        const double across = (rules.width + 0.5) * length, down = (1 + room) * rules.height * row;
        scale_ = std::min(16.0 / length, longest_side / std::max(across, down));
        above_ = room * rules.height * row;
        width_ = side(across);
        height_ = side(down);
        pixels_.resize(std::size_t{width_} * height_, samples::Colour{8, 10, 20});
    }
    void line(const Node &from, const Node &to, const samples::Colour &colour)
    {
        const double x = column(from), y = line_of(from), dx = column(to) - x, dy = line_of(to) - y,
                     dots = std::ceil(std::max({std::abs(dx), std::abs(dy), 1.0}));
        for (double i = 0; i <= dots; i++)
            dot(x + dx * i / dots, y + dy * i / dots, colour);
    }
    void write(const std::filesystem::path &path) const
    {
        samples::write_png(path, width_, height_, pixels_);
    }

private:
    std::uint32_t side(double units) const
    {
        return static_cast<std::uint32_t>(std::max(1.0, std::ceil(units * scale_)));
    }
    double column(const Node &node) const { return (node.x + 0.25 * length) * scale_; }
    double line_of(const Node &node) const { return (node.y + above_ + 0.5 * row) * scale_; }
    void dot(double x, double y, const samples::Colour &colour)
    {
        if (x >= 0 && y >= 0 && x < width_ && y < height_)
            pixels_[static_cast<std::size_t>(y) * width_ + static_cast<std::size_t>(x)] = colour;
    }

    double scale_ = 1, above_ = 0;
    std::uint32_t width_ = 0, height_ = 0;
    std::vector<samples::Colour> pixels_;
};

} // namespace

void draw(const Rules &rules, const State &state, const std::filesystem::path &path)
{
    Canvas canvas(rules);
    for (std::uint32_t number = 0; number < rules.springs(); number++) {
        const Spring &spring = state.springs[number];
        if (!spring.exists)
            continue;
        const Node &from = state.nodes[number % rules.cells()],
                   &to = state.nodes[end_of(rules, number)];
        const double fx = spring.fx, fy = spring.fy, x = to.x, y = to.y, pull = std::hypot(fx, fy),
                     along = fx * (x - from.x) + fy * (y - from.y);
        canvas.line(
            from, to,
            colour_of(std::copysign(pull, along) / std::max(1, strength_of(rules, number))));
    }
    canvas.write(path);
}

} // namespace structure
