// Prints figure 6.7 of Spliet's thesis as a table: build time against the number of work-items.
#include <cinttypes>
#include <cstdio>
#include <string>
#include <vector>

#include "run.hpp"

namespace graph {
namespace {

// One curve of the figure.
struct Column {
    DeviceGraph &graph;
    bool keep_node;
    std::string title;
};

struct Best {
    double milliseconds = 0;
    std::uint32_t work_items = 0;
    std::string title;
};

} // namespace

Outcome run_sweep(const Job &job)
{
    const std::uint32_t repeat = job.options.repeat.value_or(7);
    std::vector<DeviceGraph> graphs;
    graphs.reserve(std::size(samples::heap_choices)); // columns refer to its elements
    std::vector<Column> columns;
    for (const HeapChoice &heap : samples::heap_choices) {
        GraphOptions layout = job.options.layout;
        layout.heap = heap;
        graphs.push_back(make_graph(job, layout, false)); // freeing lost nodes needs more memory
        for (const bool keep_node : {false, true})
            columns.push_back({graphs.back(), keep_node,
                               std::string(heap.name) + (keep_node ? " keep" : " free")});
    }

    std::printf("milliseconds to build the graph, median of %" PRIu32 "\n%10s", repeat,
                "work-items");
    for (const Column &column : columns)
        std::printf(", %14s", column.title.c_str());
    std::printf("\n");
    Best best;
    Outcome outcome{0, 0, true};
    for (std::uint64_t work_items = 1; work_items <= job.work_items; work_items *= 2) {
        const LaunchShape shape =
            samples::launch_shape(static_cast<std::uint32_t>(work_items), job.work_group);
        std::printf("%10" PRIu32, shape.work_items);
        for (const Column &column : columns) {
            timed_builds(job, column.graph, shape, column.keep_node, 1); // warm-up
            const double milliseconds =
                timed_builds(job, column.graph, shape, column.keep_node, repeat);
            std::printf(", %14.3f", milliseconds);
            std::fflush(stdout);
            if (best.work_items == 0 || milliseconds < best.milliseconds)
                best = {milliseconds, shape.work_items, column.title};
            if (work_items * 2 > job.work_items) { // the last row, which has most races
                const Verdict verdict = use_and_verify(job, column.graph).verdict;
                outcome = {verdict.nodes, verdict.edges, outcome.verified && verdict.verified()};
            }
        }
        std::printf("\n");
    }
    std::printf("best: %.3f ms with %" PRIu32 " work-items, %s\n", best.milliseconds,
                best.work_items, best.title.c_str());
    return outcome;
}

} // namespace graph
