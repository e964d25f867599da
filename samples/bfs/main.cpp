// The breadth-first search sample: nodes of a graph, and visits to them, as objects on the device.
#include <algorithm>
#include <optional>

#include "common/png.hpp"
#include "network.hpp"

namespace bfs {
namespace {

class Bfs : public samples::Model {
public:
    std::string name() const override { return "bfs"; }
    std::string about() const override
    {
        return "Breadth-first search of a directed graph, level by level: nodes, and the visits\n"
               "that follow their edges, are objects on the device; for comparison the same by\n"
               "hand with a queue. Compares every node's level with the host's own search.";
    }
    void describe(samples::OptionList &options) override
    {
        options.add("--graph", search_.graph,
                    "scale-free (R-MAT), grid (a labyrinth), or a file in SNAP's edge-list form:\n"
                    "two ids per line, # for comments");
        options.add("--reverse", search_.reverse, 0, 1,
                    "1: reverse all edges of a file; for packages: from dependency to dependent");
        options.add(
            "--from", search_.from,
            "Node at which the search begins (default: the first of those with most edges)");
        options.add("--part", search_.part, 1, 1024, "Edges that one visit follows");
        options.add("--scale", search_.scale, 1, 26, "A generated graph has 2^N nodes");
        options.add("--edge-factor", search_.edge_factor, 1, 32,
                    "Edges per node of a scale-free graph");
        options.add("--edge-share", search_.edge_share, 0, 256,
                    "Neighbouring cells of a grid that are joined, of 256");
        options.add("--seed", search_.seed, 0, ~0u, "Seed of the random draws of generated graphs");
    }
    std::vector<std::pair<std::string, std::string>> paper() const override
    {
        return {{"--graph", "scale-free"}, {"--scale", "20"}};
    }
    std::string paper_text() const override
    {
        return "The paper has no such application: a scale-free graph of 2^20 nodes and 2^24 edges";
    }
    std::vector<std::pair<std::string, std::string>> versions() const override
    {
        return {{"objects", "with the object store"}, {"arrays", "by hand, a queue and CSR"}};
    }
    std::uint32_t default_steps() const override { return 1u << 20; } // the search ends earlier
    std::string size() const override
    {
        if (network_.firsts.empty())
            network_ = network_of(search_);
        return "graph " + search_.graph + ", " + std::to_string(network_.nodes()) + " nodes, " +
               std::to_string(network_.edges()) + " edges, from node " +
               std::to_string(network_.from_id);
    }
    std::unique_ptr<samples::Game> play(const kma::Device &device,
                                        const samples::Setting &setting) override
    {
        return setting.version == "arrays" ? play_arrays(device, search_, network_, setting)
                                           : play_objects(device, search_, network_, setting);
    }
    void compare(samples::Game &game, std::uint32_t steps, samples::Differences &verdict) override
    {
        const Levels there = samples::state_of<Levels>(game), right = reference(network_, steps);
        for (std::size_t node = 0; node < there.size(); node++)
            if (there[node] != right[node])
                verdict.differ("node number " + std::to_string(node) + " has level " +
                               std::to_string(there[node]) + ", the host has " +
                               std::to_string(right[node]));
    }
    // Draws one pixel per node: the farther, the darker.
    void draw(samples::Game &game, const std::filesystem::path &path) override
    {
        const Levels levels = samples::state_of<Levels>(game);
        const std::uint32_t rows = (network_.nodes() + network_.columns - 1) / network_.columns;
        std::vector<samples::Colour> pixels(std::size_t{rows} * network_.columns,
                                            samples::Colour{8, 16, 48});
        const std::uint64_t farthest =
            std::max<std::uint64_t>(numbers_of(network_, levels)[3].second, 1);
        for (std::size_t node = 0; node < levels.size(); node++)
            if (levels[node] != unreached) {
                const auto far = static_cast<std::uint8_t>(levels[node] * 160 / farthest);
                pixels[node] = {static_cast<std::uint8_t>(255 - far),
                                static_cast<std::uint8_t>(240 - far),
                                static_cast<std::uint8_t>(200 - far / 2)};
            }
        samples::write_png(path, network_.columns, rows, pixels);
    }

private:
    Search search_;
    mutable Network network_; // mutable: size() creates it
};

} // namespace
} // namespace bfs

int main(int argc, char **argv)
{
    bfs::Bfs model;
    return samples::run_simulation(model, argc, argv);
}
