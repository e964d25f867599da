// Breadth-first search with the object store: schema and steps.
#include <algorithm>

#include "network.hpp"
#include "simulation/world_game.hpp"

namespace bfs {

const std::vector<kma::Source> &kernels();

namespace {

struct Frontier { // of bfs.cl
    cl_uint level, longest;
};

class Objects : public samples::WorldGame, public samples::StateOf<Levels> {
public:
    Objects(const kma::Device &device, const Search &search, const Network &network,
            const samples::Setting &setting)
        : WorldGame(device, schema(), kernels(), "bfs.cl", enough(device, search, network, setting),
                    defines(search), setting),
          part_(search.part), network_(network), nodes_(samples::words(device, network.nodes(), 0)),
          targets_(samples::words(device, std::max(network.edges(), 1u), 0)),
          frontier_(samples::words(device, 2, 0)), nodes_root_(world().root(nodes_, "Node")),
          targets_root_(world().root(targets_, "Node"))
    {
        world().parallel_new("Node", network.nodes(), "node_init",
                             samples::copy_of(device, network.firsts), nodes_);
        if (network.edges() != 0)
            run("edges_init", std::min(network.edges(), strided), quiet(), network.edges(),
                samples::copy_of(device, network.targets), nodes_, targets_);
        run("start", 1, changing({"Visit"}), references()[network.from], frontier_);
        longest_ = read_frontier().longest;
    }
    void step(std::uint32_t number) override
    {
        const cl_uint now = number + 1;
        // ends: splits as visits_begin does, until no visit is longer than a part
        for (cl_uint length = longest_; length > part_;
             length = part_ * ((length + 64 * part_ - 1) / (64 * part_)))
            world().parallel_do("Visit", "visit_share_out", frontier_);
        if (longest_ != 0)
            device().queue().enqueueFillBuffer(frontier_, cl_uint{0}, 0, sizeof(Frontier));
        world().parallel_do("Visit", "visit_follow", now, targets_, frontier_);
        const Frontier then = read_frontier();
        longest_ = then.longest;
        is_over_ = then.level != now;
    }
    bool is_over() override { return is_over_; }
    samples::Numbers numbers() override { return numbers_of(network_, state()); }
    Levels state() override
    {
        const kma::WorldSnapshot all = world().snapshot("Node", {"level"});
        const auto levels = all.column<cl_uint>("level");
        Levels by_number;
        for (const kma::Ref node : references())
            by_number.push_back(node == 0 ? unreached : levels.at(all.row(node)));
        return by_number;
    }

private:
    static kma::Schema schema()
    {
        kma::Schema schema;
        schema.add("Node", {"kma_atomic_u32 level", "uint first", "uint edges"});
        schema.add("Visit", {"uint begin", "uint end"});
        schema.block_bytes(64 * 12); // a block has 64 nodes, and 64 visits
        schema.parallel_new("Node", "node_init",
                            quiet());
        schema.do_all("Visit", "visit_share_out", changing({"Visit"}));
        schema.do_all("Visit", "visit_follow",
                      changing({"Visit"}));
        return schema;
    }
    static std::uint64_t enough(const kma::Device &device, const Search &search,
                                const Network &network, const samples::Setting &setting)
    {
        return kma::World::bytes_for(device, schema(),
                                     {{"Node", network.nodes()},
                                      {"Visit", 2 * network.parts(search.part)},
                                      {"Visit", strided}},
                                     setting.build_options);
    }
    std::vector<kma::Ref> references() const
    {
        return samples::read<kma::Ref>(device(), nodes_, network_.nodes());
    }
    Frontier read_frontier() const { return samples::read<Frontier>(device(), frontier_, 1)[0]; }
    std::vector<cl::Buffer> buffers() override { return {nodes_, targets_, frontier_}; }

    std::uint32_t part_;
    const Network &network_;
    cl::Buffer nodes_, targets_, frontier_;
    kma::WorldRoot nodes_root_, targets_root_;
    cl_uint longest_ = 0; // of the visits that must be split; else 0
    bool is_over_ = false;
};

} // namespace

std::unique_ptr<samples::Game> play_objects(const kma::Device &device, const Search &search,
                                            const Network &network, const samples::Setting &setting)
{
    return std::make_unique<Objects>(device, search, network, setting);
}

} // namespace bfs
