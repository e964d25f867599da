// Describes the options to CLI11, which writes the help and the usage errors.
#include "options.hpp"

#include <CLI/CLI.hpp>
#include <map>

namespace graph {

std::optional<int> parse_options(int argc, char **argv, Options &options)
{
    CLI::App app(
        "Makes a search tree with adjacency lists of a directed graph, in an OpenCL kernel with malloc, uses it\n"
        "in other kernels, and compares all of it with the host's own.");
    app.name("graph");
    std::string heap = heap_choices[0].name;
    std::map<std::string, HeapChoice> heaps;
    for (const HeapChoice &choice : heap_choices)
        heaps[choice.name] = choice;
    bool svm = false;
    bool debug = false;

    options.input = GRAPH_DEFAULT_INPUT;
    CLI::Option *input = app.add_option("EDGES", options.input,
                                        "A directed graph in SNAP's edge-list form: two ids a line, # for comments");
    input->capture_default_str();
    app.add_option("--limit", options.limit, "Only the first N edges")->check(CLI::Range(1u, max_edges));

    app.add_option("--device", options.device,
                   "Text in the device's or platform's name, and :N for the N-th such device (also: KMA_DEVICE)");
    app.add_option("--heap", heap, "Which heap")->check(CLI::IsMember(heaps))->capture_default_str();
    app.add_option("--heap-bytes", options.heap_bytes,
                   "Size of the heap, such as 64M (default: what always suffices, and no less than\n256M if the device "
                   "has buffers of 1G)")
        ->transform(CLI::AsSizeValue(false)) // which takes -1 for a very large number
        ->check([](const std::string &bytes) { return bytes.front() == '-' ? "a size is not negative" : ""; });
    CLI::Option *grow = app.add_flag("--grow", options.grow,
                                     "Begin with a heap that has room for 1M, or with --heap-bytes, and let it grow "
                                     "when a\nkernel runs out of memory");
    app.add_flag("--svm", svm, "The heap in shared virtual memory rather than a buffer");
    app.add_flag("--debug", debug, "Program and heap with KMA_DEBUG=1");
    app.add_option("--work-items", options.work_items,
                   "Work-items that share the edges, rounded up to whole work-groups; of --sweep the most")
        ->check(CLI::Range(1u, max_edges));
    app.add_option("--work-group", options.work_group, "Work-items in a group")->check(CLI::Range(1u, max_edges));
    app.add_flag("--keep-node", options.keep_node,
                 "A work-item keeps a node that lost the race for its next one, rather than free it");

    app.add_option("--from", options.from,
                   "The node where the breadth-first search begins (default: the source of the first edge)");
    app.add_flag("--sweep", options.sweep, "Time against work-items, for each heap, freeing and keeping lost nodes")
        ->excludes(grow);
    app.add_option("--repeat", options.repeat, "Builds to take the median time of (default 1, of --sweep 7)")
        ->check(CLI::Range(1u, 1000u));
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError &error) {
        return app.exit(error);
    }
    options.default_input = input->count() == 0;
    options.layout.heap = heaps.at(heap);
    options.layout.storage = svm ? kma::Storage::svm : kma::Storage::buffer;
    options.layout.debug = debug ? 1 : 0;
    return std::nullopt;
}

} // namespace graph
