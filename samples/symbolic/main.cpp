// The symbolic sample: work-items differentiate expressions in rounds. The heap has space for a
// tenth of all objects; a collector frees garbage between kernels.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "common/differences.hpp"
#include "common/heaps.hpp"
#include "common/launch.hpp"
#include "common/main.hpp"
#include "common/options.hpp"
#include "common/png.hpp"
#include "reference.hpp"

namespace symbolic {

/// symbolic.cl, embedded by the build.
const std::vector<kma::Source> &kernels();

namespace {

struct Options {
    std::string device;
    std::uint32_t expressions = 1024, rounds = 100;
    std::optional<std::uint64_t> heap_bytes;
    bool no_collector = false;
    std::filesystem::path map;
    int debug = 0;
};

std::optional<int> parse_options(int argc, char **argv, Options &options)
{
    CLI::App app("Differentiates symbolic expressions on the device, in rounds. The heap has\n"
                 "space for a tenth of all objects; a collector frees garbage. Compares the\n"
                 "results with the host's.");
    app.name("symbolic");
    samples::add_device_option(app, options.device);
    app.add_option("--expressions", options.expressions, "Number of expressions and work-items")
        ->check(CLI::Range(1u, 1u << 22))
        ->capture_default_str();
    app.add_option("--rounds", options.rounds, "Number of rounds")
        ->check(CLI::Range(1u, 100000u))
        ->capture_default_str();
    samples::add_bytes_option(
        app, "--heap-bytes", options.heap_bytes,
        "Size of the heap (default: space for a tenth of all objects)");
    app.add_flag("--no-collector", options.no_collector, "Never collect: the heap becomes full");
    app.add_option(
        "--map", options.map,
        "Compact the heap at the end, and write a picture of it before and after to this\n"
        "PNG file");
    app.add_flag(
        "--debug", [&](std::int64_t) { options.debug = 2; },
        "Build program and heap with KMA_DEBUG=2");
    return samples::parse(app, argc, argv);
}

kma::Types types()
{
    kma::Types types;
    types.add("Number", {"uint value"});
    types.add("Variable", {"uint unused"});
    types.add("Sum", {"void *first", "void *second"});
    types.add("Product", {"void *first", "void *second"});
    return types;
}

// Runs the rounds on the device.
class Rounds {
public:
    Rounds(const kma::Device &device, const Options &options, kma::Heap &heap)
        : device_(device), options_(options), heap_(heap),
          expressions_(samples::words(device, options.expressions, 0)),
          done_(samples::words(device, options.expressions, 0)),
          checks_(samples::words(device, options.expressions, 0))
    {
        std::vector<kma::Source> units{{"types.cl", types().text()}};
        units.push_back(kernels().front());
        kernel_ = heap.program(units).kernel("differentiate");
        kernel_.setArg(1, expressions_);
        kernel_.setArg(2, done_);
        kernel_.setArg(3, checks_);
        kernel_.setArg(4, cl_uint{options.expressions});
        kernel_.setArg(5, cl_uint{options.rounds});
    }

    // Runs rounds until all are done or the heap is out of memory.
    void run()
    {
        heap_.set_arg(kernel_, 0);
        milliseconds_ += samples::run(
            device_, kernel_,
            samples::launch_shape(options_.expressions, samples::usual_work_group(device_)));
    }
    const cl::Buffer &expressions() const { return expressions_; }
    std::vector<std::uint32_t> checks() const
    {
        return samples::read<std::uint32_t>(device_, checks_, options_.expressions);
    }
    std::uint64_t done() const
    {
        std::uint64_t sum = 0;
        for (const std::uint32_t rounds :
             samples::read<std::uint32_t>(device_, done_, options_.expressions))
            sum += rounds;
        return sum;
    }
    double milliseconds() const { return milliseconds_; }

private:
    kma::Device device_;
    Options options_;
    kma::Heap &heap_;
    cl::Buffer expressions_, done_, checks_;
    cl::Kernel kernel_;
    double milliseconds_ = 0;
};

[[noreturn]] void throw_too_small(const Options &options, const kma::Heap &heap, std::uint64_t done)
{
    const std::uint64_t all = std::uint64_t{options.expressions} * options.rounds;
    throw kma::Error("the heap of " + std::to_string(heap.bytes()) +
                     " bytes ran out of memory after " + std::to_string(done) + " of " +
                     std::to_string(all) + " rounds; " +
                     (options.no_collector ? "run it without --no-collector, or " : "") +
                     "give it more by --heap-bytes");
}

// Writes two pictures side by side. A pixel stands for 64 bytes, a row for 32 KiB; objects are
// blue, other blocks grey.
void write_map(const std::filesystem::path &path,
               const std::vector<std::vector<kma::Collector::Piece>> &maps)
{
    constexpr std::uint32_t row = (32 << 10) / 64, gap = 16, scale = 2;
    const auto rows = static_cast<std::uint32_t>((maps.front().size() + row - 1) / row);
    const std::uint32_t width = row * static_cast<std::uint32_t>(maps.size()) + gap;
    std::vector<samples::Colour> pixels(std::size_t{width} * rows * scale, {255, 255, 255});
    for (std::size_t m = 0; m < maps.size(); m++)
        for (std::size_t i = 0; i < maps[m].size(); i++) {
            const kma::Collector::Piece piece = maps[m][i];
            const samples::Colour colour =
                piece == kma::Collector::Piece::nothing  ? samples::Colour{235, 235, 235}
                : piece == kma::Collector::Piece::object ? samples::Colour{0, 114, 178}
                                                         : samples::Colour{120, 120, 120};
            for (std::size_t y = 0; y < scale; y++)
                pixels[(i / row * scale + y) * width + m * (row + gap) + i % row] = colour;
        }
    samples::write_png(path, width, rows * scale, pixels);
}

bool run(const Options &options)
{
    std::vector<std::uint32_t> expected;
    std::uint64_t objects = 0;
    for (std::uint32_t i = 0; i < options.expressions; i++) {
        const Outcome outcome = differentiate(i, options.rounds);
        expected.push_back(outcome.check);
        objects += outcome.objects;
    }
    const std::uint64_t needed = objects * kma::ref_unit; // each object takes one unit
    const kma::Device device = kma::Device::select(options.device);
    kma::HeapOptions heap_options;
    heap_options.debug = options.debug;
    const std::uint64_t bytes =
        options.heap_bytes.value_or(kma::Heap::bytes_for(heap_options, needed / 10));
    kma::Heap heap(device, bytes, heap_options);
    std::printf("device:    %s\n", device.name().c_str());
    std::printf("heap:      %" PRIu64 " bytes; all objects together take %" PRIu64 "\n",
                heap.bytes(), needed);
    std::fflush(stdout);

    kma::CollectorOptions compaction; // for --map: empty all regions that can be emptied
    compaction.region_bytes = 32 << 10;
    compaction.share = 1;
    kma::Collector collector(heap, types(), compaction);
    Rounds rounds(device, options, heap);
    const auto roots = collector.add_roots(rounds.expressions(), options.expressions);
    kma::CollectingRunner runner(collector);
    std::uint64_t done = 0;
    const auto launch = [&](kma::Heap &, unsigned repetition) {
        rounds.run();
        const std::uint64_t before = std::exchange(done, rounds.done());
        if (repetition != 0 && done == before)
            throw_too_small(options, heap, done);
    };
    if (options.no_collector)
        launch(heap, 0);
    else
        runner.run(launch);
    if (done != std::uint64_t{options.expressions} * options.rounds)
        throw_too_small(options, heap, done);
    std::printf("rounds:    %.3f ms\n", rounds.milliseconds());
    std::printf("collector: %u collections, %" PRIu64 " objects freed\n", runner.collections(),
                runner.freed_objects());
    if (!options.map.empty()) {
        collector.collect();
        const std::vector<kma::Collector::Piece> before = collector.pieces();
        const kma::Compaction done = collector.compact();
        write_map(options.map, {before, collector.pieces()});
        std::printf("compacted: %" PRIu64 " of %" PRIu64 " objects moved\n", done.moved_objects,
                    done.collection.marked_objects);
    }

    samples::Differences verdict;
    const std::vector<std::uint32_t> checks = rounds.checks();
    for (std::size_t i = 0; i < checks.size(); i++)
        if (checks[i] != expected[i])
            verdict.differ("expression " + std::to_string(i) + " is another than the host's");
    if (const std::string errors = heap.error_text(); !errors.empty())
        verdict.differ("the heap reports errors:\n" + errors);
    verdict.report("symbolic");
    std::printf("symbolic: expressions=%" PRIu32 " rounds=%" PRIu32 " verified=%s\n",
                options.expressions, options.rounds, verdict.verified() ? "yes" : "no");
    return verdict.verified();
}

} // namespace
} // namespace symbolic

int main(int argc, char **argv)
{
    symbolic::Options options;
    if (const auto ended = symbolic::parse_options(argc, argv, options))
        return *ended;
    return samples::run_main("symbolic", [&options] { return symbolic::run(options); });
}
