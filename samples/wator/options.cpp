// Describes the options to CLI11, which writes the help and the usage errors.
#include "options.hpp"

#include <CLI/CLI.hpp>
#include <limits>

#include "common/options.hpp"

namespace wator {

std::optional<int> parse_options(int argc, char **argv, Options &options)
{
    CLI::App app("Wa-Tor: fish and sharks on a torus of cells, as objects on the device; and the same by hand, and with structures in a\n"
                 "heap. Compares every cell with the host's own simulation.");
    app.name("wator");
    Rules &rules = options.rules;
    samples::add_device_option(app, options.device);
    const CLI::Option *width = app.add_option("--width", rules.width, "Cells from west to east")->check(CLI::Range(3u, 32768u))->capture_default_str();
    const CLI::Option *height = app.add_option("--height", rules.height, "Cells from north to south")->check(CLI::Range(3u, 32768u))->capture_default_str();
    const CLI::Option *steps = app.add_option("--steps", options.steps, "Steps of the simulation")->check(CLI::Range(0u, 1u << 20))->capture_default_str();
    app.add_option("--seed", rules.seed, "Where chance begins")->capture_default_str();
    app.add_option("--fish-spawn", rules.fish_spawn, "Steps until a fish that moves leaves a child")->check(CLI::Range(1u, 255u))->capture_default_str();
    app.add_option("--shark-spawn", rules.shark_spawn, "The same of a shark")->check(CLI::Range(1u, 255u))->capture_default_str();
    app.add_option("--energy-start", rules.energy_start, "Steps that a new shark lives without food, and one")->check(CLI::Range(1u, 255u))->capture_default_str();
    app.add_option("--energy-boost", rules.energy_boost, "Steps more for a fish")->check(CLI::Range(0u, 255u))->capture_default_str();
    app.add_option("--fish-share", rules.fish_share, "Cells with a fish at the beginning, of 256")->check(CLI::Range(0u, 256u))->capture_default_str();
    app.add_option("--shark-share", rules.shark_share, "Cells with a shark, of 256")->check(CLI::Range(0u, 256u))->capture_default_str();
    bool paper = false;
    app.add_flag("--paper", paper, "The paper's figure 10: 2048 x 2560 cells, 500 steps, unless others are given");
    app.add_option("--version", options.version, "objects: with the object store; cells: by hand, arrays of cells; pointers: structures in a slab heap")
        ->check(CLI::IsMember({"objects", "cells", "pointers"}))
        ->capture_default_str();
    samples::add_bytes_option(app, "--bytes", options.bytes, "Size of the world or the heap, such as 64M (default: enough for an agent in every cell)");
    app.add_flag("--stop-when-full", options.stop_when_full, "End with an error at the first agent that is not born for want of memory");
    app.add_flag("--debug", options.debug, "Have the library check what do-alls say they change (objects)");
    app.add_flag("!--no-verify", options.verify, "Without the host's own simulation");
    app.add_option("--frames", options.frames, "A folder for pictures, step-00000.png and so on");
    app.add_option("--frame-steps", options.frame_steps, "Steps from one to the next")->check(CLI::Range(1u, 1u << 20))->capture_default_str();
    app.add_option("--curve", options.curve, "A file for fish, sharks and fragmentation after each step, as comma-separated values");
    app.add_option("--build-options", options.build_options, "For the compiler, such as -DKMA_OBJECTS_ROTATE=0 (objects)");
    if (const auto ended = samples::parse(app, argc, argv))
        return ended;
    if (paper) {
        rules.width = width->count() != 0 ? rules.width : 2048;
        rules.height = height->count() != 0 ? rules.height : 2560;
        options.steps = steps->count() != 0 ? options.steps : 500;
    }
    return std::nullopt;
}

} // namespace wator
