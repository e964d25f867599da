// The automaton sample: matches package names with regular expressions, by a non-deterministic
// automaton with its states in a work queue on the device. This file reads the input; its last line
// of output is the result.
#include <algorithm>
#include <chrono>
#include <cinttypes>
#include <cstdio>
#include <filesystem>
#include <numeric>
#include <string>

#include "common/main.hpp"
#include "matcher.hpp"
#include "options.hpp"

namespace automaton {
namespace {

using Clock = std::chrono::steady_clock;

Inputs read_input(const Options &options)
{
    if (options.default_names && !std::filesystem::exists(options.names))
        throw kma::Error("the default input " + options.names +
                         " is missing; give a file by --names");
    return read_inputs(options.names, options.limit);
}

void print_matches(const std::vector<Match> &matches, const std::vector<std::string> &expressions)
{
    for (std::size_t k = 0; k < expressions.size(); k++) {
        const auto count = std::count_if(matches.begin(), matches.end(),
                                         [k](const Match &match) { return match.expression == k; });
        std::printf("matches: %7zu of %s\n", static_cast<std::size_t>(count),
                    expressions[k].c_str());
    }
}

bool run(const Options &options)
{
    const Inputs inputs = read_input(options);
    const Automaton automaton = compile(options.expressions);
    const kma::Device device = kma::Device::select(options.device);
    std::printf("device:  %s\n", device.name().c_str());
    std::printf("input:   %s, %" PRIu32 " inputs, %zu characters\n", options.names.c_str(),
                inputs.size(), inputs.text.size());
    std::printf("states:  %zu, of %zu expressions\n", automaton.states.size(),
                options.expressions.size());
    std::fflush(stdout);

    const Run run = match(device, options, inputs, automaton);
    const std::vector<std::uint64_t> &items = run.found.items;
    std::printf("rounds:  %zu, with %" PRIu64 " items in all, %" PRIu64 " in the largest\n",
                items.size(), std::accumulate(items.begin(), items.end(), std::uint64_t{0}),
                items.empty() ? 0 : *std::max_element(items.begin(), items.end()));
    std::printf("kernels: %.3f ms\n", run.milliseconds);
    print_matches(run.found.matches, options.expressions);
    std::printf("heap:    %s, %" PRIu64 " of %" PRIu64 " bytes used\n", options.heap.name,
                run.heap.used, run.heap.bytes);
    std::fflush(stdout);

    const Clock::time_point begin = Clock::now();
    samples::Differences verdict = compare(expected(inputs, options.expressions, automaton),
                                           run.found, inputs, options.expressions);
    if (!run.heap_faults.empty())
        verdict.differ("the heap reports errors:\n" + run.heap_faults);
    verdict.report("automaton");
    std::printf("host:    %.3f ms for the same by std::regex\n",
                std::chrono::duration<double, std::milli>(Clock::now() - begin).count());
    std::printf("automaton: inputs=%" PRIu32 " expressions=%zu matches=%zu verified=%s\n",
                inputs.size(), options.expressions.size(), run.found.matches.size(),
                verdict.verified() ? "yes" : "no");
    return verdict.verified();
}

} // namespace
} // namespace automaton

int main(int argc, char **argv)
{
    automaton::Options options;
    if (const auto ended = automaton::parse_options(argc, argv, options))
        return *ended;
    return samples::run_main("automaton", [&options] { return automaton::run(options); });
}
