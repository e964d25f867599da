// Describes the options to CLI11, which writes the help and the usage errors.
#include "options.hpp"

#include <CLI/CLI.hpp>

namespace graph {

std::optional<int> parse_options(int argc, char **argv, Options &options)
{
    CLI::App app("Builds a search tree with adjacency lists of a directed graph, in an OpenCL\n"
                 "kernel with malloc; uses it in other kernels, and compares all of it with the\n"
                 "host's own.");
    app.name("graph");
    bool svm = false;

    options.input = GRAPH_DEFAULT_INPUT;
    CLI::Option *input =
        app.add_option("EDGES", options.input,
                       "Directed graph in SNAP's edge-list form: two ids per line, # for comments");
    input->capture_default_str();
    app.add_option("--limit", options.limit, "Only the first N edges")
        ->check(CLI::Range(1u, max_edges));

    samples::add_device_options(app, options);
    CLI::Option *grow = app.add_flag(
        "--grow", options.grow,
        "Begin with a heap for 1M of blocks, or of --heap-bytes, that grows when a kernel\n"
        "runs out of memory");
    app.add_flag("--svm", svm, "Put the heap into shared virtual memory instead of a buffer");
    app.add_option(
           "--work-items", options.work_items,
           "Work-items that share the edges, rounded up to whole groups; with --sweep the most")
        ->check(CLI::Range(1u, max_edges));
    app.add_flag(
        "--keep-node", options.keep_node,
        "A work-item keeps a node that lost a race for its next insertion, instead of freeing it");

    app.add_option(
        "--from", options.from,
        "Node at which the breadth-first search begins (default: the source of the first edge)");
    app.add_flag("--sweep", options.sweep,
                 "Print build times against work-items, for each heap, freeing and keeping nodes")
        ->excludes(grow);
    app.add_option("--repeat", options.repeat,
                   "Number of builds; the median time is printed (default 1, with --sweep 7)")
        ->check(CLI::Range(1u, 1000u));
    if (const auto ended = samples::parse(app, argc, argv))
        return ended;
    options.default_input = input->count() == 0;
    options.layout.heap = options.heap;
    options.layout.storage = svm ? kma::Storage::svm : kma::Storage::buffer;
    options.layout.debug = options.debug;
    return std::nullopt;
}

} // namespace graph
