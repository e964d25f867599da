// The sugarscape sample: males and females as objects on the device.
#include <algorithm>

#include "common/png.hpp"
#include "land.hpp"

namespace sugarscape {
namespace {

class Sugarscape : public samples::Model {
public:
    std::string name() const override { return "sugarscape"; }
    std::string about() const override
    {
        return "The sugarscape of Epstein and Axtell: agents that look for sugar, eat it, mate\n"
               "and die, as objects on the device; for comparison the same by hand. Compares\n"
               "every cell with the host's own simulation.";
    }
    void describe(samples::OptionList &options) override
    {
        options.add("--width", rules_.width, 8, 32768, "Cells from west to east");
        options.add("--height", rules_.height, 8, 32768, "Cells from north to south");
        options.add("--seed", rules_.seed, 0, ~0u, "Seed of the random draws");
        options.add("--male-share", rules_.male_share, 0, 256,
                    "Cells with a male at the start, of 256");
        options.add("--female-share", rules_.female_share, 0, 256, "Cells with a female, of 256");
        options.add("--capacity", rules_.capacity, 0, 255,
                    "Sugar that a cell on a hilltop can have; other cells have less");
        options.add("--regrowth", rules_.regrowth, 1, 255,
                    "Steps in which an empty cell fills up");
        options.add("--vision", rules_.vision, 1, 8,
                    "Largest number of cells that an agent sees to each side");
        options.add("--metabolism", rules_.metabolism, 0, 127,
                    "Least sugar that an agent spends per step");
        options.add("--metabolism-more", rules_.metabolism_more, 0, 128,
                    "Range of metabolisms above the least");
        options.add("--endowment", rules_.endowment, 0, 127,
                    "Least sugar of an agent at the start");
        options.add("--endowment-more", rules_.endowment_more, 0, 128,
                    "Range of endowments above the least");
        options.add("--life", rules_.life, 1, 127,
                    "Shortest lifetime of an agent, in steps");
        options.add("--life-more", rules_.life_more, 0, 127, "Range of lifetimes above that");
        options.add("--fertile-from", rules_.fertile_from, 0, 255,
                    "Age from which agents may have children");
        options.add("--fertile-until", rules_.fertile_until, 0, 255,
                    "Age from which agents have no more children");
    }
    std::vector<std::pair<std::string, std::string>> paper() const override
    {
        return {{"--width", "1700"}, {"--height", "1700"}, {"--steps", "300"}};
    }
    std::string paper_text() const override
    {
        return "The paper's figure 10: 1700 x 1700 cells, and 300 steps";
    }
    std::vector<std::pair<std::string, std::string>> versions() const override
    {
        return {{"objects", "with the object store"}, {"cells", "by hand, arrays of cells"}};
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
        return setting.version == "cells" ? play_cells(device, rules_, setting)
                                          : play_objects(device, rules_, setting);
    }
    void compare(samples::Game &game, std::uint32_t steps, samples::Differences &verdict) override
    {
        const Grid there = samples::state_of<Grid>(game), right = reference(rules_, steps);
        for (std::size_t cell = 0; cell < there.size(); cell++)
            if (!(there[cell] == right[cell]))
                verdict.differ("cell " + std::to_string(cell) +
                               " has other sugar than the host's, or another agent, or one of "
                               "other age, wealth or genes");
        if (game.numbers() != population_of(right))
            verdict.differ("the numbers of males and females are others than the host's");
    }
    void draw(samples::Game &game, const std::filesystem::path &path) override
    {
        constexpr samples::Colour male{64, 144, 255}, female{240, 64, 80};
        std::vector<samples::Colour> pixels;
        for (const Cell &cell : samples::state_of<Grid>(game)) {
            const auto shade = static_cast<std::uint8_t>(
                std::min(cell.sugar * 255u / std::max(rules_.capacity, 1u), 255u));
            const samples::Colour ground{shade, shade, static_cast<std::uint8_t>(shade / 4)};
            pixels.push_back(cell.sex == Sex::male     ? male
                             : cell.sex == Sex::female ? female
                                                       : ground);
        }
        samples::write_png(path, rules_.width, rules_.height, pixels);
    }

private:
    Rules rules_;
};

} // namespace
} // namespace sugarscape

int main(int argc, char **argv)
{
    sugarscape::Sugarscape model;
    return samples::run_simulation(model, argc, argv);
}
