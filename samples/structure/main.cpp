// The structure sample: a material that breaks, as objects on the device.
#include "mesh.hpp"

namespace structure {
namespace {

class Structure : public samples::Model {
public:
    std::string name() const override { return "structure"; }
    std::string about() const override
    {
        return "Fracture: a sheet of nodes and springs that is pulled until it breaks, as objects\n"
               "on the device; for comparison the same in arrays by hand. Compares every node and\n"
               "spring with the host's own simulation.";
    }
    void describe(samples::OptionList &options) override
    {
        options.add("--width", rules_.width, 1, 16384, "Nodes per row");
        options.add("--height", rules_.height, 2, 65536,
                    "Rows: the first one is pulled, the last one is fixed");
        options.add("--seed", rules_.seed, 0, ~0u, "Seed of the random draws");
        options.add("--relaxations", rules_.relaxations, 1, 10000,
                    "Relaxations per step: in each, springs pull and nodes move");
        options.add("--pull", rules_.pull, 0, 1024,
                    "Distance that pulled nodes move per step, in 1/1024 of a spring's length");
        options.add("--strength", rules_.strength, 0, 1023,
                    "Length by which strong springs grow before they tear, in the same unit");
        options.add("--mass", rules_.mass, 1, 1024,
                    "Mass of a node; in a relaxation a stretch of 1 accelerates it by 1 / mass");
        options.add("--friction", rules_.friction, 0, 1024,
                    "Share of its velocity that a node loses per relaxation, of 1024");
        options.add("--spread", rules_.spread, 0, 128,
                    "The stiffness of springs is 256 plus or minus at most this, of 256");
        options.add("--missing-nodes", rules_.missing_nodes, 0, 1024,
                    "Nodes that are missing in the mesh, of 1024");
        options.add("--weak-springs", rules_.weak_springs, 0, 1024,
                    "Springs with a quarter of the strength, of 1024");
    }
    std::vector<std::pair<std::string, std::string>> paper() const override
    {
        return {{"--width", "12000"}, {"--height", "125"}, {"--pull", "60"},
                {"--mass", "4"},      {"--friction", "1"}, {"--steps", "60"}};
    }
    std::string paper_text() const override
    {
        return "1.5 million places for nodes, pulled hard, 60 steps";
    }
    std::vector<std::pair<std::string, std::string>> versions() const override
    {
        return {{"objects", "with the object store"}, {"arrays", "by hand"}};
    }
    std::uint32_t default_steps() const override { return 200; }
    std::string size() const override
    {
        return std::to_string(rules_.width) + " x " + std::to_string(rules_.height) + " nodes, " +
               std::to_string(rules_.relaxations) + " relaxations a step, seed " +
               std::to_string(rules_.seed);
    }
    std::unique_ptr<samples::Game> play(const kma::Device &device,
                                        const samples::Setting &setting) override
    {
        return setting.version == "arrays" ? play_arrays(device, rules_, setting)
                                           : play_objects(device, rules_, setting);
    }
    void compare(samples::Game &game, std::uint32_t steps, samples::Differences &verdict) override
    {
        const State there = samples::state_of<State>(game), here = reference(rules_, steps);
        for (std::size_t i = 0; i < here.nodes.size(); i++)
            if (!(there.nodes[i] == here.nodes[i]))
                verdict.differ("node " + std::to_string(i) +
                               " is at another place than the host's, or has another velocity, or "
                               "only one of them is left");
        for (std::size_t i = 0; i < here.springs.size(); i++)
            if (!(there.springs[i] == here.springs[i]))
                verdict.differ("spring " + std::to_string(i) +
                               " has another force than the host's, or only one of them is left");
        if (game.numbers() != numbers_of(here))
            verdict.differ("the numbers of nodes and springs are others than the host's");
    }
    void draw(samples::Game &game, const std::filesystem::path &path) override
    {
        structure::draw(rules_, samples::state_of<State>(game), path);
    }

private:
    Rules rules_;
};

} // namespace
} // namespace structure

int main(int argc, char **argv)
{
    structure::Structure model;
    return samples::run_simulation(model, argc, argv);
}
