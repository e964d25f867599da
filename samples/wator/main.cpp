// The Wa-Tor sample: fish and sharks as objects on the device.
#include "common/png.hpp"
#include "reference.hpp"

namespace wator {
namespace {

class Wator : public samples::Model {
public:
    std::string name() const override { return "wator"; }
    std::string about() const override
    {
        return "Wa-Tor: fish and sharks on a torus of cells, as objects on the device; for\n"
               "comparison the same by hand, and with structures in a heap. Compares every cell\n"
               "with the host's own simulation.";
    }
    void describe(samples::OptionList &options) override
    {
        options.add("--width", rules_.width, 3, 32768, "Cells from west to east");
        options.add("--height", rules_.height, 3, 32768, "Cells from north to south");
        options.add("--seed", rules_.seed, 0, ~0u, "Seed of the random draws");
        options.add("--fish-spawn", rules_.fish_spawn, 1, 255,
                    "Age in steps from which a fish that moves leaves a child");
        options.add("--shark-spawn", rules_.shark_spawn, 1, 255, "The same for a shark");
        options.add("--energy-start", rules_.energy_start, 1, 255,
                    "Energy of a new shark; a shark spends 1 per step, and dies at 0");
        options.add("--energy-boost", rules_.energy_boost, 0, 255, "Energy gained from a fish");
        options.add("--fish-share", rules_.fish_share, 0, 256,
                    "Cells with a fish at the start, of 256");
        options.add("--shark-share", rules_.shark_share, 0, 256, "Cells with a shark, of 256");
    }
    std::vector<std::pair<std::string, std::string>> paper() const override
    {
        return {{"--width", "2048"}, {"--height", "2560"}, {"--steps", "500"}};
    }
    std::string paper_text() const override
    {
        return "The paper's figure 10: 2048 x 2560 cells, 500 steps";
    }
    std::vector<std::pair<std::string, std::string>> versions() const override
    {
        return {{"objects", "with the object store"},
                {"cells", "by hand, arrays of cells"},
                {"pointers", "structures in a slab heap"}};
    }
    std::uint32_t default_steps() const override { return 100; }
    // Without memory a child is not born; the simulation goes on.
    bool goes_on_when_full() const override { return true; }
    std::string size() const override
    {
        return std::to_string(rules_.width) + " x " + std::to_string(rules_.height) +
               " cells, seed " + std::to_string(rules_.seed);
    }
    std::unique_ptr<samples::Game> play(const kma::Device &device,
                                        const samples::Setting &setting) override
    {
        if (setting.version == "cells")
            return play_cells(device, rules_, setting);
        return setting.version == "pointers" ? play_pointers(device, rules_, setting)
                                             : play_objects(device, rules_, setting);
    }
    void compare(samples::Game &game, std::uint32_t steps, samples::Differences &verdict) override
    {
        Reference reference(rules_);
        for (std::uint32_t step = 0; step < steps; step++)
            reference.step(step);
        const Grid there = samples::state_of<Grid>(game);
        for (std::size_t cell = 0; cell < there.size(); cell++)
            if (!(there[cell] == reference.grid()[cell]))
                verdict.differ("cell " + std::to_string(cell) +
                               " has another agent than the host's, or one of other age or energy");
        if (game.numbers() != population_of(reference.grid()))
            verdict.differ("the numbers of fish and sharks are others than the host's");
    }
    void draw(samples::Game &game, const std::filesystem::path &path) override
    {
        constexpr samples::Colour colours[] = {{8, 16, 48}, {64, 200, 96}, {232, 72, 56}};
        std::vector<samples::Colour> pixels;
        for (const Cell &cell : samples::state_of<Grid>(game))
            pixels.push_back(colours[static_cast<std::size_t>(cell.kind)]);
        samples::write_png(path, rules_.width, rules_.height, pixels);
    }

private:
    Rules rules_;
};

} // namespace
} // namespace wator

int main(int argc, char **argv)
{
    wator::Wator model;
    return samples::run_simulation(model, argc, argv);
}
