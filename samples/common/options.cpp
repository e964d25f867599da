// Describes the options to CLI11, which writes the help and the usage errors.
#include "common/options.hpp"

#include <CLI/CLI.hpp>
#include <limits>
#include <vector>

namespace samples {

void add_device_option(CLI::App &app, std::string &device)
{
    app.add_option("--device", device,
                   "Text in the device's or platform's name, and :N for the N-th such device "
                   "(also: KMA_DEVICE)");
}

void add_bytes_option(CLI::App &app, const std::string &name, std::optional<std::uint64_t> &bytes,
                      const std::string &description)
{
    app.add_option(name, bytes, description)
        ->transform(CLI::AsSizeValue(false)) // turns -1 into a very large number
        ->check([](const std::string &given) {
            return given.front() == '-' ? "a size is not negative" : "";
        });
}

void add_device_options(CLI::App &app, DeviceOptions &options)
{
    add_device_option(app, options.device);
    std::vector<std::string> names;
    for (const HeapChoice &choice : heap_choices)
        names.emplace_back(choice.name);
    const auto choose = [&options](const std::string &name) {
        for (const HeapChoice &choice : heap_choices)
            if (name == choice.name)
                options.heap = choice;
    };
    app.add_option_function<std::string>("--heap", choose, "Heap kind")
        ->check(CLI::IsMember(names))
        ->default_str(options.heap.name);
    add_bytes_option(app, "--heap-bytes", options.heap_bytes,
                     "Size of the heap, such as 64M (default: always enough, and at least\n"
                     "256M if the device has buffers of 1G)");
    app.add_flag_callback(
        "--debug", [&options] { options.debug = 1; }, "Build program and heap with KMA_DEBUG=1");
    app.add_option("--work-group", options.work_group, "Work-items per work-group")
        ->check(CLI::Range(1u, std::numeric_limits<std::uint32_t>::max()));
}

std::optional<int> parse(CLI::App &app, int argc, char **argv)
{
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError &error) {
        return app.exit(error);
    }
    return std::nullopt;
}

} // namespace samples
