// The traffic sample: vehicles and the cells of streets as objects on the device.
#include <optional>

#include "network.hpp"

namespace traffic {
namespace {

constexpr std::uint64_t most_cells = 1u << 28;

class Traffic : public samples::Model {
public:
    std::string name() const override { return "traffic"; }
    std::string about() const override
    {
        return "Traffic on a network of streets (Nagel and Schreckenberg): vehicles and the cells\n"
               "of streets as objects on the device; for comparison the same by hand. Compares\n"
               "every cell with the host's own simulation.";
    }
    void describe(samples::OptionList &options) override
    {
        options.add("--columns", rules_.columns, 2, 4096, "Intersections from west to east");
        options.add("--rows", rules_.rows, 1, 4096, "Intersections from north to south");
        options.add("--block", rules_.block, 1, 4096,
                    "Approximate number of cells between neighbouring intersections");
        options.add("--seed", rules_.seed, 0, ~0u, "Seed of the random draws");
        options.add("--max-speed", rules_.max_speed, 1, 100,
                    "Cells per step; the limits of streets and the top speeds of vehicles are at\n"
                    "least half of it");
        options.add("--green", rules_.green, 1, 1000, "Steps for which a traffic light is green");
        options.add("--source-share", rules_.source_share, 0, 1024,
                    "Cells that are sources of vehicles, of 1024");
        options.add("--sink-share", rules_.sink_share, 0, 1024,
                    "Cells at which vehicles leave, of 1024");
        options.add("--source-chance", rules_.source_chance, 0, 1024,
                    "Steps in which an empty source creates a vehicle, of 1024");
        options.add("--dawdle-chance", rules_.dawdle_chance, 0, 1024,
                    "Steps in which a vehicle dawdles, of 1024");
    }
    std::vector<std::pair<std::string, std::string>> paper() const override
    {
        return {{"--columns", "140"}, {"--rows", "125"}, {"--block", "86"}, {"--steps", "3000"}};
    }
    std::string paper_text() const override
    {
        return "The paper's size: 17,500 intersections, 3000 steps";
    }
    std::vector<std::pair<std::string, std::string>> versions() const override
    {
        return {{"objects", "with the object store"}, {"cells", "by hand, arrays of cells"}};
    }
    std::uint32_t default_steps() const override { return 200; }
    std::string size() const override
    {
        if (3ull * rules_.columns * rules_.rows * rules_.block > most_cells)
            throw kma::Error("the streets would have more than " + std::to_string(most_cells) +
                             " cells; take fewer --columns or --rows, or a smaller --block");
        return std::to_string(rules_.columns) + " x " + std::to_string(rules_.rows) +
               " intersections " + std::to_string(rules_.block) + " cells apart, seed " +
               std::to_string(rules_.seed);
    }
    std::unique_ptr<samples::Game> play(const kma::Device &device,
                                        const samples::Setting &setting) override
    {
        network_.emplace(rules_);
        return setting.version == "cells" ? play_cells(device, rules_, *network_, setting)
                                          : play_objects(device, rules_, *network_, setting);
    }
    void compare(samples::Game &game, std::uint32_t steps, samples::Differences &verdict) override
    {
        const Outcome right = reference(rules_, *network_, steps);
        const Spots there = samples::state_of<Spots>(game);
        for (std::size_t cell = 0; cell < there.size(); cell++)
            if (!(there[cell] == right.spots[cell]))
                verdict.differ("cell " + std::to_string(cell) +
                               " has another vehicle than the host's, or one of other speed");
        if (game.numbers() != numbers_of(right.spots))
            verdict.differ("the numbers of vehicles are others than the host's");
        if (right.collisions != 0)
            verdict.differ("on the host " + std::to_string(right.collisions) +
                           " vehicles came into cells with another one");
    }
    void draw(samples::Game &game, const std::filesystem::path &path) override
    {
        traffic::draw(rules_, *network_, samples::state_of<Spots>(game), path);
    }

private:
    Rules rules_;
    std::optional<Network> network_; // set by play()
};

} // namespace
} // namespace traffic

int main(int argc, char **argv)
{
    traffic::Traffic model;
    return samples::run_simulation(model, argc, argv);
}
