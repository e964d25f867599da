// The command-line tool `kma`: devices, selftest, check, soak, bench, cl-dir and emit.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <nlohmann/json.hpp>

#include "bench_report.hpp"
#include "check.hpp"
#include "devices.hpp"
#include "files.hpp"
#include "options.hpp"
#include "selftest.hpp"
#include "soak_report.hpp"

namespace tool {
namespace {

void print(const nlohmann::ordered_json &json)
{
    std::cout << json.dump(2) << '\n';
}

int devices(const Options &options)
{
    const std::vector<DeviceFacts> all = all_facts();
    for (const std::string &one : kma::Device::left_out())
        std::cerr << "kma: left out: " << one << '\n';
    if (options.json) {
        print(all);
        return EXIT_SUCCESS;
    }
    for (const DeviceFacts &facts : all)
        std::cout << to_text(facts) << '\n';
    std::cout << "Another is selected by --device or KMA_DEVICE: a part of platform or name, :1 "
                 "behind it for the second "
                 "match.\n";
    return EXIT_SUCCESS;
}

int selftest(const Options &options)
{
    const SelftestReport report = run_selftest(options.build_options);
    if (options.json)
        print(report);
    else
        std::cout << to_text(report);
    return report.passed() ? EXIT_SUCCESS : EXIT_FAILURE;
}

int check(const Options &options)
{
    if (options.scale != 1)
        setenv("KMA_TEST_SCALE", std::to_string(options.scale).c_str(), 1);
    const CheckResults results = run_check(options.cases, options.json ? stderr : stdout);
    if (options.json)
        print(results);
    else
        std::cout << to_text(results);
    return results.passed ? EXIT_SUCCESS : EXIT_FAILURE;
}

int soak(const Options &options)
{
    conformance::SoakOptions launch = options.soak;
    launch.work_items =
        (launch.work_items + launch.work_group - 1) / launch.work_group * launch.work_group;
    const SoakReport report = run_soak(kinds_of(options), options.debug, launch);
    if (options.json)
        print(report);
    else
        std::cout << to_text(report);
    return report.passed() ? EXIT_SUCCESS : EXIT_FAILURE;
}

int bench(const Options &options)
{
    ::bench::Options battery = options.bench;
    battery.heaps = kinds_of(options);
    std::ranges::transform(options.replaced, std::back_inserter(battery.replaced), replacement);
    const BenchReport report = run_bench(battery, options.command);
    if (!options.json_file.empty())
        write_text(options.json_file, nlohmann::ordered_json(report).dump(1) + '\n');
    if (!options.csv_file.empty())
        write_text(options.csv_file, to_csv(report));
    if (options.json_file != "-" && options.csv_file != "-")
        std::cout << to_text(report);
    return report.passed() ? EXIT_SUCCESS : EXIT_FAILURE;
}

// Describes the commands to CLI11; `run` becomes the chosen one.
void describe(CLI::App &app, Options &options, std::function<int()> &run)
{
    app.name("kma");
    app.set_version_flag("--version", std::string("kma ") + kma::version());
    app.require_subcommand(1);
    app.add_option("--device", options.device,
                   "Text in the device's or platform's name, and :N for the N-th such device "
                   "(also: KMA_DEVICE)");
    app.fallthrough();

    const auto command = [&](const char *name, const char *help, int (*action)(const Options &)) {
        CLI::App *added = app.add_subcommand(name, help);
        added->callback(
            [&run, &options, action] { run = [&options, action] { return action(options); }; });
        return added;
    };
    const auto may_be_json = [&](CLI::App *of) {
        of->add_flag("--json", options.json, "For programs");
    };

    may_be_json(command("devices", "OpenCL's devices, with what matters to kma", devices));
    CLI::App *tests = command("selftest", "Whether a device computes what kma relies on", selftest);
    may_be_json(tests);
    tests->add_option("--build-options", options.build_options,
                      "For the device's compiler, such as -DKMA_LANES=1");
    CLI::App *checks = command(
        "check", "Run the conformance suite of all heaps: a line for each case, then a table",
        check);
    may_be_json(checks);
    checks->add_option("CASES", options.cases,
                       "Only these cases; * at either end stands for any text");
    checks
        ->add_option("--scale", options.scale, "How much of it: 0.1 is quick, 2 and more thorough")
        ->check(CLI::Range(0.001, 100.0))
        ->capture_default_str();
    CLI::App *soaks =
        command("soak", "Take and free blocks for long, and verify every byte of each", soak);
    may_be_json(soaks);
    describe_soak(soaks, options);
    describe_bench(command("bench",
                           "Measure every heap, verify what was measured, and make tables of it",
                           bench),
                   options);
    command("cl-dir", "The folder to compile with -I, for #include \"kma/kma.cl\"",
            [](const Options &) {
                std::cout << cl_dir().string() << '\n';
                return EXIT_SUCCESS;
            });
    CLI::App *emits =
        command("emit", "One self-contained .cl file, for programs without the C++ library",
                [](const Options &given) {
                    write_text(given.output, kma::emit(kind_named(given.heap)));
                    return EXIT_SUCCESS;
                });
    emits->add_option("--heap", options.heap, "Which heap kma_malloc means")
        ->check(CLI::IsMember(heap_names()))
        ->capture_default_str();
    emits->add_option("-o,--output", options.output,
                      "The file to write (default: standard output)");
}

} // namespace
} // namespace tool

int main(int argc, char **argv)
{
    CLI::App app("kma: malloc for OpenCL kernels");
    tool::Options options;
    for (int i = 0; i < argc; i++)
        options.command += (i == 0 ? "kma" : std::string(" ") + argv[i]);
    std::function<int()> run;
    tool::describe(app, options, run);
    try {
        app.parse(argc, argv);
        // All later code, also the conformance suite, selects the device by this variable.
        if (!options.device.empty())
            setenv("KMA_DEVICE", options.device.c_str(), 1);
        return run();
    } catch (const CLI::ParseError &error) {
        return app.exit(error);
    } catch (const cl::Error &error) {
        std::cerr << "kma: OpenCL's " << error.what() << " failed with error " << error.err()
                  << '\n';
    } catch (const std::exception &error) {
        std::cerr << "kma: " << error.what() << '\n';
    }
    return EXIT_FAILURE;
}
