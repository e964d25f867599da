// The game of life sample: live cells, and cells that may come alive, as objects on the device.
#include "common/png.hpp"
#include "reference.hpp"

namespace game_of_life {
namespace {

class Life : public samples::Model {
public:
    std::string name() const override { return "game_of_life"; }
    std::string about() const override
    {
        return "Conway's game of life: cells that are alive, or may come alive, are objects on\n"
               "the device, and only these cost time; for comparison the same by hand with all\n"
               "cells of a grid. Compares every cell with the host's own simulation.";
    }
    void describe(samples::OptionList &options) override
    {
        options.add("--width", rules_.width, 1, 32768, "Cells from west to east");
        options.add("--height", rules_.height, 1, 32768, "Cells from north to south");
        options.add("--pattern", rules_.pattern,
                    "First live cells: soup (at random), guns (Gosper's, each with an eater), or\n"
                    "a file in RLE or plaintext form");
        options.add("--seed", rules_.seed, 0, ~0u, "Seed of the random draws of soup and guns");
        options.add("--soup-share", rules_.soup_share, 0, 256, "Live cells of the soup, of 256");
        options.add("--guns", rules_.guns, 1, 1u << 20, "Number of guns");
    }
    std::vector<std::pair<std::string, std::string>> paper() const override
    {
        return {{"--width", "1714"},
                {"--height", "1647"},
                {"--pattern", "guns"},
                {"--guns", "550"},
                {"--steps", "2000"}};
    }
    std::string paper_text() const override
    {
        return "The paper's figure 10: 1714 x 1647 cells, 2000 steps; with guns, which have about\n"
               "as many agents, 150,000, as the Turing machine there.\n"
               "The larger one, 1,050,000: --paper --width 12699 --height 12652 --guns 3880";
    }
    std::vector<std::pair<std::string, std::string>> versions() const override
    {
        return {{"objects", "with the object store"}, {"cells", "by hand, all cells"}};
    }
    std::uint32_t default_steps() const override { return 100; }
    std::string size() const override
    {
        return std::to_string(rules_.width) + " x " + std::to_string(rules_.height) +
               " cells, pattern " + rules_.pattern + ", seed " + std::to_string(rules_.seed);
    }
    std::unique_ptr<samples::Game> play(const kma::Device &device,
                                        const samples::Setting &setting) override
    {
        return setting.version == "cells" ? play_cells(device, rules_, setting)
                                          : play_objects(device, rules_, setting);
    }
    void compare(samples::Game &game, std::uint32_t steps, samples::Differences &verdict) override
    {
        Reference reference(rules_);
        for (std::uint32_t step = 0; step < steps; step++)
            reference.step();
        const Board there = samples::state_of<Board>(game), right = reference.board();
        for (std::size_t cell = 0; cell < there.size(); cell++)
            if (there[cell] != right[cell])
                verdict.differ("cell " + std::to_string(cell % rules_.width) + ", " +
                               std::to_string(cell / rules_.width) +
                               " has another agent than the host's");
        if (game.numbers() != population_of(right))
            verdict.differ("the numbers of agents are others than the host's");
    }
    void draw(samples::Game &game, const std::filesystem::path &path) override
    {
        constexpr samples::Colour colours[] = {{8, 16, 48}, {32, 56, 112}, {255, 240, 200}};
        std::vector<samples::Colour> pixels;
        for (const Kind kind : samples::state_of<Board>(game))
            pixels.push_back(colours[static_cast<std::size_t>(kind)]);
        samples::write_png(path, rules_.width, rules_.height, pixels);
    }

private:
    Rules rules_;
};

} // namespace
} // namespace game_of_life

int main(int argc, char **argv)
{
    game_of_life::Life model;
    return samples::run_simulation(model, argc, argv);
}
