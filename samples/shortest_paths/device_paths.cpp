// Creates the graph, then runs rounds until no node's distance decreases.
#include "device_paths.hpp"

#include <string>

#include "common/launch.hpp"

namespace paths {

/// shortest_paths.cl, embedded by the build.
const std::vector<kma::Source> &kernels();

namespace {

struct Link { // paths_link of shortest_paths.cl
    kma::Ref next;
    cl_uint to, weight;
};

struct Node { // paths_node
    kma::Ref links;
    cl_uint distance, round;
};

using Item = cl_uint; // the number of a node

kma::ArrayListOptions list_options()
{
    kma::ArrayListOptions options;
    options.align = alignof(Item);
    options.objects_per_block = 1024;       // 4 KiB
    options.most_objects_per_block = 16384; // 64 KiB
    return options;
}

// For one link per edge; in each round each node at most once.
std::uint64_t sufficient_heap_bytes(const samples::DeviceOptions &options,
                                    const graph::Reference &graph)
{
    std::vector<kma::BlockDemand> blocks =
        kma::WorkQueue::blocks_for(graph.nodes(), sizeof(Item), list_options());
    blocks.push_back({sizeof(Link), graph.edges()});
    return kma::Heap::bytes_for(samples::heap_options(options), blocks);
}

// The device's side of a run.
class DevicePaths {
public:
    DevicePaths(const kma::Device &device, const samples::DeviceOptions &options,
                const graph::Reference &graph, std::uint64_t heap_bytes, std::uint64_t enough)
        : device_(device), graph_(graph), enough_(enough),
          work_group_(options.work_group.value_or(samples::usual_work_group(device))),
          heap_(device, heap_bytes, samples::heap_options(options)),
          program_(heap_.program(kernels())),
          work_(heap_, sizeof(Item), list_options()),
          nodes_(device.context(), CL_MEM_READ_WRITE, graph.nodes() * sizeof(Node)),
          lost_(samples::words(device, 1, 0))
    {
    }

    Run run(std::size_t from, std::uint32_t most_weight)
    {
        Run result{};
        result.build_milliseconds = make_graph(most_weight);
        result.milliseconds = launch(kernel("paths_start", static_cast<cl_uint>(from)), 1,
                                     "items of the first round");
        for (std::uint32_t items = work_.turn(); items != 0;
             items = work_.turn()) { // ends when no distance decreases
            result.items.push_back(items);
            const auto round = static_cast<cl_uint>(result.items.size());
            result.milliseconds += launch(kernel("paths_round", round), items,
                                          "items of round " + std::to_string(round + 1));
        }
        std::vector<Node> nodes(graph_.nodes());
        device_.queue().enqueueReadBuffer(nodes_, CL_TRUE, 0, nodes.size() * sizeof nodes[0],
                                          nodes.data());
        for (const Node &node : nodes)
            result.distances.push_back(node.distance);
        result.heap = heap_.stats();
        result.heap_faults = samples::faults_of(heap_);
        return result;
    }

private:
    double make_graph(std::uint32_t most_weight)
    {
        std::vector<cl_uint> sources, sinks;
        for (std::size_t node = 0; node < graph_.nodes(); node++)
            for (const std::uint32_t sink : graph_.sinks(node)) {
                sources.push_back(static_cast<cl_uint>(node));
                sinks.push_back(sink);
            }
        const cl::Buffer ids = samples::copy_of(device_, graph_.keys()),
                         source_buffer = samples::copy_of(device_, sources),
                         sink_buffer = samples::copy_of(device_, sinks);
        cl::Kernel nodes = program_.kernel("paths_nodes");
        nodes.setArg(0, nodes_);
        nodes.setArg(1, static_cast<cl_uint>(graph_.nodes()));
        cl::Kernel links = program_.kernel("paths_links");
        heap_.set_arg(links, 0);
        links.setArg(1, nodes_);
        links.setArg(2, ids);
        links.setArg(3, source_buffer);
        links.setArg(4, sink_buffer);
        links.setArg(5, static_cast<cl_uint>(graph_.edges()));
        links.setArg(6, cl_uint{most_weight});
        links.setArg(7, lost_);
        const double milliseconds = launch(nodes, graph_.nodes(), "nodes");
        return milliseconds +
               launch(links, graph_.edges(), "of " + std::to_string(graph_.edges()) + " edges");
    }

    // Creates a kernel of the rounds; these share all arguments but the last.
    cl::Kernel kernel(const char *name, cl_uint last_argument) const
    {
        cl::Kernel made = program_.kernel(name);
        heap_.set_arg(made, 0);
        work_.set_arg(made, 1);
        made.setArg(2, nodes_);
        made.setArg(3, lost_);
        made.setArg(4, last_argument);
        return made;
    }

    // Returns milliseconds. Throws kma::Error if memory ran out for some of `what`.
    double launch(const cl::Kernel &kernel, std::size_t work_items, const std::string &what)
    {
        const double milliseconds = samples::run(
            device_, kernel,
            samples::whole_groups(static_cast<std::uint32_t>(work_items), work_group_));
        cl_uint lost = 0;
        device_.queue().enqueueReadBuffer(lost_, CL_TRUE, 0, sizeof lost, &lost);
        if (lost != 0)
            samples::throw_too_small(device_, heap_, enough_,
                                     std::to_string(lost) + " " + what + " did not fit");
        return milliseconds;
    }

    const kma::Device &device_;
    const graph::Reference &graph_;
    std::uint64_t enough_;
    std::uint32_t work_group_;
    kma::Heap heap_;
    kma::Program program_;
    kma::WorkQueue work_;
    cl::Buffer nodes_, lost_;
};

} // namespace

Run find(const kma::Device &device, const samples::DeviceOptions &options,
         const graph::Reference &graph, std::size_t from, std::uint32_t most_weight)
{
    const std::uint64_t enough = sufficient_heap_bytes(options, graph);
    const std::uint64_t bytes =
        options.heap_bytes.value_or(samples::usual_heap_bytes(device, enough));
    return samples::made_in(device, bytes, enough,
                            [&] { return DevicePaths(device, options, graph, bytes, enough); })
        .run(from, most_weight);
}

} // namespace paths
