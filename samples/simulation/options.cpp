// Describes the options to CLI11, which writes the help and the usage errors.
#include "simulation/options.hpp"

#include <CLI/CLI.hpp>

#include "common/options.hpp"

namespace samples {
namespace {

class CliOptions : public OptionList {
public:
    explicit CliOptions(CLI::App &app) : app_(app) {}
    void add(const std::string &name, std::uint32_t &value, std::uint32_t least, std::uint32_t most,
             const std::string &text) override
    {
        app_.add_option(name, value, text)->check(CLI::Range(least, most))->capture_default_str();
    }
    void add(const std::string &name, float &value, float least, float most,
             const std::string &text) override
    {
        app_.add_option(name, value, text)->check(CLI::Range(least, most))->capture_default_str();
    }
    void add(const std::string &name, std::string &value, const std::string &text) override
    {
        app_.add_option(name, value, text)->capture_default_str();
    }

private:
    CLI::App &app_;
};

void add_versions(const Model &model, CLI::App &app, SimulationOptions &options)
{
    std::vector<std::string> names;
    std::string text;
    for (const auto &[name, what] : model.versions()) {
        names.push_back(name);
        text += (text.empty() ? "" : "; ") + name + ": " + what;
    }
    options.setting.version = names.front();
    app.add_option("--version", options.setting.version, text)
        ->check(CLI::IsMember(names))
        ->capture_default_str();
}

} // namespace

std::optional<int> parse_simulation(Model &model, int argc, char **argv, SimulationOptions &options)
{
    CLI::App app(model.about());
    app.name(model.name());
    options.steps = model.default_steps();
    options.verify_steps = model.default_verify_steps();
    add_device_option(app, options.device);
    CliOptions list(app);
    model.describe(list);
    list.add("--steps", options.steps, 0, 1u << 20, "Steps of the simulation");
    bool is_paper = false, is_unverified = false;
    app.add_flag("--paper", is_paper, model.paper_text() + ", unless other options override it");
    add_versions(model, app, options);
    add_bytes_option(
        app, "--bytes", options.setting.bytes,
        "Size of the world or heap, for versions that have one, such as 64M (default: enough)");
    app.add_flag("--stop-when-full", options.stop_when_full,
                 "End with an error at the first step that runs out of memory");
    app.add_option("--verify-steps", options.verify_steps,
                   "Compare with the host's own simulation after so many steps, or after all\n"
                   "if there are fewer; 0: never")
        ->default_str(options.verify_steps == ~0u ? "all" : std::to_string(options.verify_steps));
    app.add_flag("--no-verify", is_unverified, "Do not compare");
    app.add_option("--frames", options.frames, "Folder for pictures, step-00000.png and so on");
    app.add_option("--frame-steps", options.frame_steps, "Steps between two pictures")
        ->check(CLI::Range(1u, 1u << 20))
        ->capture_default_str();
    app.add_option("--curve", options.curve,
                   "File for the numbers after each step, as comma-separated values");
    app.add_option("--json", options.json, "File for times and numbers, as JSON");
    list.add("--defragment-when", options.setting.defragment_when, 0.001f, 1,
             "Defragment a class before a do-all if a larger share of its slots is empty\n"
             "(objects); 1: never");
    app.add_flag("--debug", options.setting.debug,
                 "Check that do-alls change only what they declare (objects)");
    app.add_option("--build-options", options.setting.build_options,
                   "Options of the OpenCL compiler, such as -DKMA_OBJECTS_ROTATE=0");
    if (const auto ended = parse(app, argc, argv))
        return ended;
    if (is_unverified)
        options.verify_steps = 0;
    for (const auto &[name, value] :
         is_paper ? model.paper() : std::vector<std::pair<std::string, std::string>>{})
        if (CLI::Option *option = app.get_option(name); option->count() == 0) {
            option->add_result(value);
            option->run_callback();
        }
    return std::nullopt;
}

} // namespace samples
