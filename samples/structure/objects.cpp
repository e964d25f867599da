// A material that breaks, with the object store: schema and steps.
#include <algorithm>

#include "mesh.hpp"
#include "simulation/world_game.hpp"

namespace structure {

const std::vector<kma::Source> &kernels();

namespace {

class Objects : public samples::WorldGame, public samples::StateOf<State> {
public:
    Objects(const kma::Device &device, const Rules &rules, const samples::Setting &setting)
        : WorldGame(device, schema(), kernels(), "structure.cl", enough(device, rules, setting),
                    rules.defines(), setting),
          rules_(rules), torn_(samples::words(device, 1, 1)), latest_(samples::words(device, 1, 0))
    {
        const cl::Buffer nodes = samples::words(device, rules.cells());
        run("create_nodes", std::min(rules.cells(), strided), changing({"NodeBase"}), nodes);
        run("create_springs", std::min(rules.springs(), strided), changing({"Spring"}), nodes);
    }
    void step(std::uint32_t number) override
    {
        const cl_uint now = number + 1;
        world().parallel_do("PulledNode", "node_pull");
        for (std::uint32_t i = 0; i < rules_.relaxations; i++) {
            world().parallel_do("Spring", "spring_pull", now, torn_);
            world().parallel_do("Node", "node_move");
        }
        if (samples::read<cl_uint>(device(), torn_, 1)[0] != now)
            return;
        search(device(), latest_, round_, [&](cl_uint loses, cl_uint round) {
            world().parallel_do("Node", "node_search", loses, round, latest_);
        });
        world().parallel_do("Spring", "spring_remove");
        world().parallel_do("Node", "node_remove");
    }
    samples::Numbers numbers() override
    {
        return {{"nodes", world().count("NodeBase")}, {"springs", world().count("Spring")}};
    }
    State state() override
    {
        const kma::WorldSnapshot nodes =
            world().snapshot("NodeBase", {"number", "place", "velocity"});
        const auto numbers = nodes.column<cl_uint>("number");
        const auto places = nodes.column<cl_int2>("place"),
                   velocities = nodes.column<cl_int2>("velocity");
        State state(rules_);
        for (std::size_t i = 0; i < nodes.size(); i++)
            state.nodes.at(numbers[i]) = {true, places[i].s[0], places[i].s[1], velocities[i].s[0],
                                          velocities[i].s[1]};
        const kma::WorldSnapshot springs =
            world().snapshot("Spring", {"begin", "direction", "force"});
        const auto begins = springs.column<cl_uint>("begin");
        const auto directions = springs.column<cl_uchar>("direction");
        const auto forces = springs.column<cl_short2>("force");
        // springs that begin at no node are skipped; the numbers show that they are missing
        for (std::size_t i = 0; i < springs.size(); i++)
            if (const std::size_t begin = nodes.row(begins[i]); begin < nodes.size())
                state.springs.at(directions[i] * rules_.cells() +
                                 numbers[begin]) = {true, forces[i].s[0], forces[i].s[1]};
        return state;
    }

private:
    static kma::Schema schema()
    {
        kma::Schema schema;
        schema.add_abstract("NodeBase", {"uint number", "int2 place", "int2 velocity",
                                         "Spring springs[6]", "kma_atomic_u32 distance"});
        schema.add("Node", {}, "NodeBase")
            .add("AnchorNode", {}, "NodeBase")
            .add("PulledNode", {}, "AnchorNode");
        schema.add("Spring", {"NodeBase begin", "NodeBase end", "short2 force", "ushort rest",
                              "ushort stiffness", "ushort strength", "uchar direction"});
        schema.block_bytes(32 * 48); // 32 nodes, one per lane of a warp; 64 springs take less
        schema.do_all("PulledNode", "node_pull", quiet());
        schema.do_all("Spring", "spring_pull", quiet());
        schema.do_all("Node", "node_move", quiet());
        schema.do_all("Node", "node_search", quiet());
        schema.do_all("Spring", "spring_remove", changing({"Spring"}));
        schema.do_all("Node", "node_remove", changing({"Node"}));
        return schema;
    }
    // On a GPU each warp that creates springs may leave a half-full block.
    static std::uint64_t enough(const kma::Device &device, const Rules &rules,
                                const samples::Setting &setting)
    {
        const std::uint32_t nodes = rules.cells(), springs = rules.springs(),
                            half_full = 2 * std::min(springs, strided);
        return kma::World::bytes_for(device, schema(),
                                     {{"NodeBase", nodes},
                                      {"NodeBase", std::min(nodes, strided)},
                                      {"Spring", springs},
                                      {"Spring", half_full}},
                                     setting.build_options);
    }
    std::vector<cl::Buffer> buffers() override { return {torn_, latest_}; }

    Rules rules_;
    // the last step in which a spring tore, from 1; initially 1, because parts of the first mesh
    // may be loose
    cl::Buffer torn_;
    cl::Buffer latest_; // the last round of a search that changed anything
    cl_uint round_ = 0;
};

} // namespace

std::unique_ptr<samples::Game> play_objects(const kma::Device &device, const Rules &rules,
                                            const samples::Setting &setting)
{
    return std::make_unique<Objects>(device, rules, setting);
}

} // namespace structure
