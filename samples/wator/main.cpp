// The Wa-Tor sample: fish and sharks as objects on the device. This file plays, draws and times it, and ends with one line that says how it
// went.
#include <chrono>
#include <cinttypes>
#include <cstdio>
#include <fstream>

#include "common/differences.hpp"
#include "common/main.hpp"
#include "common/png.hpp"
#include "options.hpp"
#include "picture.hpp"
#include "reference.hpp"

namespace wator {
namespace {

using Clock = std::chrono::steady_clock;

double milliseconds_since(Clock::time_point begin)
{
    return std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
}

std::unique_ptr<Game> make_game(const kma::Device &device, const Options &options)
{
    if (options.version == "cells")
        return play_cells(device, options.rules);
    if (options.version == "pointers")
        return play_pointers(device, options.rules, options.bytes.value_or(0));
    return play_objects(device, options.rules, options.bytes.value_or(0), options.build_options, options.debug);
}

// What is written after each step, if anything is.
class Record {
public:
    explicit Record(const Options &options) : options_(options)
    {
        if (options.curve.empty())
            return;
        curve_.open(options.curve);
        curve_ << "step,fish,sharks,fragmentation,unborn\n";
    }
    void after(std::uint32_t step, Game &game)
    {
        if (!options_.curve.empty()) {
            const Population people = game.population();
            curve_ << step << ',' << people.fish << ',' << people.sharks << ',' << game.fragmentation() << ',' << game.unborn() << std::endl;
            if (!curve_)
                throw kma::Error("cannot write the numbers to " + options_.curve + ": does its folder exist, and is there room?");
        }
        if (options_.frames.empty() || step % options_.frame_steps != 0)
            return;
        draw(options_.rules, game.grid(), samples::frame_path(options_.frames, step));
    }

private:
    const Options &options_;
    std::ofstream curve_;
};

void compare(const Options &options, Game &game, samples::Differences &verdict)
{
    const Clock::time_point begin = Clock::now();
    Reference reference(options.rules);
    for (std::uint32_t step = 0; step < options.steps; step++)
        reference.step(step);
    std::printf("host:    %.3f ms\n", milliseconds_since(begin));
    const Grid there = game.grid();
    for (std::size_t cell = 0; cell < there.size(); cell++)
        if (!(there[cell] == reference.grid()[cell]))
            verdict.differ("cell " + std::to_string(cell) + " has another agent than the host's, or one of other age or energy");
    if (!(game.population() == population_of(reference.grid())))
        verdict.differ("the numbers of fish and sharks are others than the host's");
}

bool run(const Options &options)
{
    const kma::Device device = kma::Device::select(options.device);
    if (!options.frames.empty())
        std::filesystem::create_directories(options.frames);
    std::printf("device:  %s\n", device.name().c_str());
    std::printf("ocean:   %" PRIu32 " x %" PRIu32 " cells, seed %" PRIu32 "\n", options.rules.width, options.rules.height, options.rules.seed);
    const std::unique_ptr<Game> game = make_game(device, options);
    Record record(options);
    record.after(0, *game);
    const Population first = game->population();
    std::printf("at first: %" PRIu64 " fish, %" PRIu64 " sharks\n", first.fish, first.sharks);
    std::fflush(stdout);

    game->times();
    const Clock::time_point begin = Clock::now();
    for (std::uint32_t step = 0; step < options.steps; step++) {
        game->step(step);
        record.after(step + 1, *game);
        if (options.stop_when_full && game->unborn() != 0)
            throw kma::Error("step " + std::to_string(step) + ": " + std::to_string(game->unborn()) + " agents not born for want of memory; give more by --bytes");
    }
    const samples::Times times = game->times(); // waits
    const double all = milliseconds_since(begin), steps = std::max(options.steps, 1u);
    std::printf("time:    %.4f ms a step; of it kernels %.4f, of these enumeration %.4f\n", all / steps, times.total() / steps,
                times.enumeration() / steps);
    times.print(steps);

    const Population people = game->population();
    const std::uint64_t unborn = game->unborn();
    std::printf("at last: %" PRIu64 " fish, %" PRIu64 " sharks; %" PRIu64 " not born for want of memory; %.1f %% of slots in blocks empty\n", people.fish,
                people.sharks, unborn, 100 * game->fragmentation());
    samples::Differences verdict;
    for (const std::string &fault : game->faults())
        verdict.differ(fault);
    if (options.verify && unborn == 0) // else it is another ocean
        compare(options, *game, verdict);
    verdict.report("wator");
    const char *verified = !verdict.verified() ? "no" : options.verify && unborn == 0 ? "yes" : "not asked";
    std::printf("wator: version=%s fish=%" PRIu64 " sharks=%" PRIu64 " steps=%" PRIu32 " verified=%s\n", game->name(), people.fish, people.sharks,
                options.steps, verified);
    return verdict.verified();
}

} // namespace
} // namespace wator

int main(int argc, char **argv)
{
    wator::Options options;
    if (const auto ended = wator::parse_options(argc, argv, options))
        return *ended;
    return samples::run_main("wator", [&options] { return wator::run(options); });
}
