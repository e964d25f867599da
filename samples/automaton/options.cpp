// Describes the options to CLI11, which writes the help and the usage errors.
#include "options.hpp"

#include <CLI/CLI.hpp>

namespace automaton {

std::optional<int> parse_options(int argc, char **argv, Options &options)
{
    CLI::App app(
        "Matches many lines with regular expressions, all at once: a non-deterministic\n"
        "automaton in OpenCL kernels, with its states in a work queue. Compares the matches with\n"
        "those of std::regex.");
    app.name("automaton");
    options.names = AUTOMATON_DEFAULT_NAMES;
    CLI::Option *names = app.add_option("--names", options.names,
                                        "File of inputs: one per line, after the line's last tab");
    names->capture_default_str();
    app.add_option("--limit", options.limit, "Only the first N inputs")
        ->check(CLI::Range(1u, std::numeric_limits<std::uint32_t>::max()));
    options.expressions = {"lib.*-dev",
                           "python3-[a-z]+",
                           "(lib)?[a-z]+[0-9]+(\\.[0-9]+)*(-[a-z]+)*",
                           ".*(perl|ruby|java).*",
                           "[^-]+-[^-]+-[^-]+",
                           "(.*-)?(doc|data|common)"};
    app.add_option("--regex", options.expressions,
                   "Expressions that match whole inputs: characters, . [a-z] [^a-z] r* r+ r? rs\n"
                   "r|s (r); .*r.* finds r anywhere. Give several after one option, or repeat it")
        ->capture_default_str();
    samples::add_device_options(app, options);
    if (const auto ended = samples::parse(app, argc, argv))
        return ended;
    options.default_names = names->count() == 0;
    return std::nullopt;
}

} // namespace automaton
