// Launches and times the kernels of graph.cl, by the device's own clock.
#include "device_graph.hpp"

#include <algorithm>
#include <utility>

namespace graph {

using samples::copy_of;
using samples::launch_shape;
using samples::run;
using samples::words;

/// graph.cl and tree.cl, embedded by the build.
const std::vector<kma::Source> &kernels();

namespace {

kma::Program program_for(const kma::Heap &heap)
{
    kma::ProgramOptions build;
    std::vector<kma::Source> units;
    for (const kma::Source &source : kernels())
        (source.name == "graph.cl" ? units : build.headers).push_back(source);
    return heap.program(units, build);
}

} // namespace

kma::HeapOptions heap_options(const GraphOptions &options)
{
    kma::HeapOptions heap;
    heap.kind = options.heap.kind;
    heap.storage = options.storage;
    heap.debug = options.debug;
    heap.max_bytes = options.max_bytes;
    return heap;
}

std::uint64_t sufficient_heap_bytes(const GraphOptions &options, std::uint64_t edges,
                                    std::uint64_t nodes, std::uint32_t work_items, bool keep_node)
{
    // An edge requests at most two nodes. A work-item requests a node at most once per id:
    // afterwards the id is in the tree. A work-item that keeps lost nodes has at most one that is
    // not in the tree.
    std::uint64_t node_blocks = std::min(2 * edges, nodes * work_items);
    if (keep_node)
        node_blocks = std::min(node_blocks, nodes + work_items);
    GraphOptions fixed = options;
    fixed.max_bytes = 0;
    return kma::Heap::bytes_for(heap_options(fixed),
                                {{sizeof(Link), edges}, {sizeof(Node), node_blocks}});
}

DeviceGraph::DeviceGraph(const kma::Device &device, const Edges &edges, std::uint64_t heap_bytes,
                         const GraphOptions &options)
    : device_(device), options_(options), heap_(device, heap_bytes, heap_options(options)),
      program_(program_for(heap_)),
      edges_(static_cast<std::uint32_t>(edges.size())), sources_(copy_of(device, edges.sources)),
      sinks_(copy_of(device, edges.sinks)),
      state_(device.context(), CL_MEM_READ_WRITE, sizeof(State))
{
}

DeviceGraph::Build DeviceGraph::build(LaunchShape shape, bool keep_node)
{
    heap_.reset();
    write_state({});
    cl::Kernel build = kernel("graph_build");
    build.setArg(2, sources_);
    build.setArg(3, sinks_);
    build.setArg(4, cl_uint{edges_});
    build.setArg(5, cl_uint{keep_node});
    const cl::Buffer progress =
        copy_of(device_, std::vector<std::uint32_t>(shape.work_items), CL_MEM_READ_WRITE);
    build.setArg(6, progress);
    Build result{};
    kma::GrowingRunner runner(heap_);
    runner.run([&](kma::Heap &heap, unsigned) {
        heap.set_arg(build, 0);
        result.milliseconds += run(device_, build, shape);
    });
    result.edges_done = read_state().edges_done;
    result.growths = runner.growths();
    result.refused = runner.refused();
    return result;
}

DeviceGraph::Degrees DeviceGraph::degrees(const std::vector<std::uint32_t> &keys,
                                          std::uint32_t work_group)
{
    Degrees result{};
    result.milliseconds = look_up("graph_degrees", keys, work_group, {&result.out, &result.in});
    return result;
}

DeviceGraph::Levels DeviceGraph::levels(std::uint32_t from, const std::vector<std::uint32_t> &keys,
                                        std::uint32_t work_group)
{
    Levels result{};
    cl::Buffer frontier = words(device_, keys.size());
    cl::Buffer next = words(device_, keys.size());
    cl::Kernel start = kernel("graph_bfs_start");
    start.setArg(2, cl_uint{from});
    start.setArg(3, frontier);
    result.milliseconds = run(device_, start, {1, 1});

    State state = read_state();
    cl::Kernel level = kernel("graph_bfs_level");
    while (state.frontier_end != 0) { // ends: each round reaches a new node
        if (state.frontier_end > keys.size() - result.reached)
            throw kma::Error("the breadth-first search reached more nodes than there are");
        result.reached += state.frontier_end;
        result.level_count++;
        const cl_uint count = std::exchange(state.frontier_end, 0);
        write_state(state);
        level.setArg(2, cl_uint{result.level_count});
        level.setArg(3, frontier);
        level.setArg(4, count);
        level.setArg(5, next);
        result.milliseconds += run(device_, level, launch_shape(count, work_group));
        std::swap(frontier, next);
        state = read_state();
    }
    // reads the result; not part of the time
    look_up("graph_levels", keys, work_group, {&result.levels});
    return result;
}

DeviceGraph::State DeviceGraph::read_state() const
{
    State state;
    device_.queue().enqueueReadBuffer(state_, CL_TRUE, 0, sizeof state, &state);
    return state;
}

void DeviceGraph::write_state(const State &state)
{
    device_.queue().enqueueWriteBuffer(state_, CL_TRUE, 0, sizeof state, &state);
}

// Creates a kernel; the heap and the state are its first arguments.
cl::Kernel DeviceGraph::kernel(const char *name) const
{
    cl::Kernel kernel = program_.kernel(name);
    heap_.set_arg(kernel, 0);
    kernel.setArg(1, state_);
    return kernel;
}

// Runs a kernel with one work-item per key; it writes one word per key to each of `results`.
// Returns the milliseconds.
double DeviceGraph::look_up(const char *name, const std::vector<std::uint32_t> &keys,
                            std::uint32_t work_group,
                            const std::vector<std::vector<std::uint32_t> *> &results)
{
    cl::Kernel look_up = kernel(name);
    const cl::Buffer key_buffer = copy_of(device_, keys); // setArg does not keep it alive
    look_up.setArg(2, key_buffer);
    look_up.setArg(3, static_cast<cl_uint>(keys.size()));
    std::vector<cl::Buffer> buffers;
    for (std::size_t i = 0; i < results.size(); i++) {
        buffers.push_back(words(device_, keys.size()));
        look_up.setArg(static_cast<cl_uint>(4 + i), buffers.back());
    }
    const double milliseconds =
        run(device_, look_up, launch_shape(static_cast<std::uint32_t>(keys.size()), work_group));
    for (std::size_t i = 0; i < results.size(); i++) {
        results[i]->resize(keys.size());
        device_.queue().enqueueReadBuffer(buffers[i], CL_TRUE, 0, keys.size() * sizeof(cl_uint),
                                          results[i]->data());
    }
    return milliseconds;
}

} // namespace graph
