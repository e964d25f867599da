// The n-body sample: bodies as objects on the device. This file plays, draws and times it, and ends with one line that says how it went.
#include <chrono>
#include <cinttypes>
#include <cmath>
#include <cstdio>

#include "common/differences.hpp"
#include "common/main.hpp"
#include "common/png.hpp"
#include "options.hpp"

namespace nbody {
namespace {

using Clock = std::chrono::steady_clock;

// Of sums of n numbers of about 1 in single precision, and of what a step makes of a difference.
constexpr double tolerance = 1e-4;

std::unique_ptr<Game> make_game(const kma::Device &device, const Options &options)
{
    if (options.version == "arrays")
        return play_arrays(device, options.space);
    if (options.version == "pointers")
        return play_pointers(device, options.space, options.bytes.value_or(0));
    return play_objects(device, options.space, options.bytes.value_or(0));
}

void draw(const std::vector<Body> &bodies, const std::filesystem::path &path)
{
    constexpr std::uint32_t size = 512;
    std::vector<samples::Colour> pixels(size * size, samples::Colour{8, 16, 48});
    for (const Body &body : bodies) {
        const auto place = [](float at) { return static_cast<std::int64_t>((double{at} + 1) / 2 * size); };
        if (place(body.x) >= 0 && place(body.x) < size && place(body.y) >= 0 && place(body.y) < size)
            pixels[static_cast<std::size_t>(place(body.y) * size + place(body.x))] = {255, 240, 200};
    }
    samples::write_png(path, size, size, pixels);
}

void draw_step(const Options &options, std::uint32_t step, Game &game)
{
    if (options.frames.empty())
        return;
    draw(game.bodies(), samples::frame_path(options.frames, step));
}

// `scale`: what is a difference of 1.
void compare(const char *what, double is, double right, double scale, samples::Differences &verdict)
{
    if (!(std::abs(is - right) <= tolerance * scale))
        verdict.differ(std::string(what) + " is " + std::to_string(is) + ", the host has " + std::to_string(right));
}

void compare(const std::vector<Body> &bodies, const Options &options, std::uint32_t steps, samples::Differences &verdict)
{
    const std::vector<Body> right_bodies = reference(options.space, steps);
    const Checksum is = checksum(bodies), right = checksum(right_bodies);
    const double n = static_cast<double>(bodies.size()), impulse = 750 * n * std::sqrt(2 * right.energy / (750 * n));
    if (bodies.size() != right_bodies.size())
        verdict.differ("there are " + std::to_string(bodies.size()) + " bodies, the host has " + std::to_string(right_bodies.size()));
    compare("the sum of places, x,", is.x, right.x, n, verdict);
    compare("the sum of places, y,", is.y, right.y, n, verdict);
    compare("the sum of their squares", is.spread, right.spread, n, verdict);
    compare("the impulse, x,", is.impulse_x, right.impulse_x, impulse, verdict);
    compare("the impulse, y,", is.impulse_y, right.impulse_y, impulse, verdict);
    compare("the energy", is.energy, right.energy, right.energy, verdict);
}

bool run(const Options &options)
{
    const kma::Device device = kma::Device::select(options.device);
    if (!options.frames.empty())
        std::filesystem::create_directories(options.frames);
    std::printf("device:  %s\nbodies:  %" PRIu32 ", seed %" PRIu32 "\n", device.name().c_str(), options.space.bodies, options.space.seed);
    const std::unique_ptr<Game> game = make_game(device, options);
    draw_step(options, 0, *game);
    game->times();
    samples::Differences verdict;
    const std::uint32_t compared = std::min(options.steps, options.verify_steps);
    std::vector<double> milliseconds; // of steps
    samples::Times sum;
    double wall = 0;
    for (std::uint32_t step = 0; step < options.steps; step++) {
        const Clock::time_point begin = Clock::now();
        game->step();
        const samples::Times times = game->times(); // waits
        wall += std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
        milliseconds.push_back(times.total());
        sum.add(times);
        draw_step(options, step + 1, *game);
        if (step + 1 == compared)
            compare(game->bodies(), options, compared, verdict);
    }
    std::sort(milliseconds.begin(), milliseconds.end());
    const double steps = std::max<std::size_t>(milliseconds.size(), 1);
    std::printf("time:    %.4f ms a step; median of kernels %.4f, enumeration %.4f\n", wall / steps,
                milliseconds.empty() ? 0 : milliseconds[milliseconds.size() / 2], sum.enumeration() / steps);
    sum.print(steps);
    for (const std::string &fault : game->faults())
        verdict.differ(fault);
    const Checksum last = checksum(game->bodies());
    std::printf("at last: energy %.6e, spread %.6e\n", last.energy, last.spread);
    verdict.report("nbody");
    std::printf("nbody: version=%s bodies=%" PRIu32 " steps=%" PRIu32 " compared=%" PRIu32 " verified=%s\n", options.version.c_str(), options.space.bodies,
                options.steps, compared, !verdict.verified() ? "no" : options.verify_steps != 0 ? "yes" : "not asked");
    return verdict.verified();
}

} // namespace
} // namespace nbody

int main(int argc, char **argv)
{
    nbody::Options options;
    if (const auto ended = nbody::parse_options(argc, argv, options))
        return *ended;
    return samples::run_main("nbody", [&options] { return nbody::run(options); });
}
