// Describes the options to CLI11, which writes the help and the usage errors.
#include "options.hpp"

#include <CLI/CLI.hpp>

#include "common/options.hpp"

namespace nbody {

std::optional<int> parse_options(int argc, char **argv, Options &options)
{
    CLI::App app("Bodies that attract each other, as objects on the device; and the same in arrays by hand, and as structures in a heap.\n"
                 "Compares with the host's own simulation in double precision.");
    app.name("nbody");
    Space &space = options.space;
    samples::add_device_option(app, options.device);
    const CLI::Option *bodies = app.add_option("--bodies", space.bodies, "How many")->check(CLI::Range(1u, 1u << 22))->capture_default_str();
    const CLI::Option *steps = app.add_option("--steps", options.steps, "Steps of the simulation")->check(CLI::Range(0u, 1u << 20))->capture_default_str();
    app.add_option("--seed", space.seed, "Where chance begins")->capture_default_str();
    app.add_option("--gravity", space.gravity, "Strength of attraction")->check(CLI::Range(0.0f, 1.0f))->capture_default_str();
    app.add_option("--time-step", space.time_step, "Time from one step to the next")->check(CLI::Range(0.0f, 1.0f))->capture_default_str();
    app.add_option("--damping", space.damping, "Added to squares of distances")->check(CLI::Range(1e-9f, 1.0f))->capture_default_str();
    bool paper = false;
    app.add_flag("--paper", paper, "The paper's figure 10: 20,000 bodies, and 100 steps, unless others are given");
    app.add_option("--version", options.version, "objects: with the object store; arrays: by hand; pointers: structures in a slab heap")
        ->check(CLI::IsMember({"objects", "arrays", "pointers"}))
        ->capture_default_str();
    samples::add_bytes_option(app, "--bytes", options.bytes, "Size of the world or the heap, such as 64M (default: enough)");
    app.add_option("--verify-steps", options.verify_steps, "The host plays so many of the steps at most; 0: none")->capture_default_str();
    app.add_option("--frames", options.frames, "A folder for pictures, step-00000.png and so on");
    if (const auto ended = samples::parse(app, argc, argv))
        return ended;
    if (paper) {
        space.bodies = bodies->count() != 0 ? space.bodies : 20000;
        options.steps = steps->count() != 0 ? options.steps : 100;
    }
    return std::nullopt;
}

} // namespace nbody
