// Describes the options to CLI11, which writes the help and the usage errors.
#include "options.hpp"

#include <CLI/CLI.hpp>

namespace paths {

std::optional<int> parse_options(int argc, char **argv, Options &options)
{
    CLI::App app("Finds the shortest paths from one node of a directed graph to all others, by\n"
                 "rounds of work in OpenCL kernels on lists that are made with malloc. Compares\n"
                 "the distances with those of Dijkstra's algorithm.");
    app.name("shortest_paths");
    options.input = GRAPH_DEFAULT_INPUT;
    CLI::Option *input =
        app.add_option("EDGES", options.input,
                       "Directed graph in SNAP's edge-list form: two ids per line, # for comments");
    input->capture_default_str();
    app.add_option("--limit", options.limit, "Only the first N edges")
        ->check(CLI::Range(1u, graph::max_edges));
    app.add_option("--from", options.from,
                   "Node at which the paths begin (default: the source of the first edge)");
    app.add_flag("--reverse", options.reverse,
                 "Reverse all edges; for packages: from dependency to dependent");
    app.add_option("--most-weight", options.most_weight,
                   "Weights are 1 to N, by a hash of the edge")
        ->check(CLI::Range(1u, graph::max_edges))
        ->capture_default_str();
    samples::add_device_options(app, options);
    if (const auto ended = samples::parse(app, argc, argv))
        return ended;
    options.default_input = input->count() == 0;
    return std::nullopt;
}

} // namespace paths
