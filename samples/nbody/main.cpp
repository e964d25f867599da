// The n-body sample: bodies as objects on the device.
#include <cmath>

#include "bodies.hpp"
#include "common/png.hpp"

namespace nbody {
namespace {

// For sums of n numbers of about 1 in single precision; a step may amplify a difference.
constexpr double tolerance = 1e-4;

// Compares two sums; a difference is measured in units of `scale`.
void compare_sums(const char *what, double is, double right, double scale,
                  samples::Differences &verdict)
{
    if (!(std::abs(is - right) <= tolerance * scale))
        verdict.differ(std::string(what) + " is " + std::to_string(is) + ", the host has " +
                       std::to_string(right));
}

class Nbody : public samples::Model {
public:
    std::string name() const override { return "nbody"; }
    std::string about() const override
    {
        return "Bodies that attract each other, as objects on the device; for comparison the same\n"
               "in arrays by hand, and as structures in a heap.\n"
               "Compares with the host's own simulation in double precision.";
    }
    void describe(samples::OptionList &options) override
    {
        options.add("--bodies", space_.bodies, 1, 1u << 22, "Number of bodies");
        options.add("--seed", space_.seed, 0, ~0u, "Seed of the random draws");
        options.add("--gravity", space_.gravity, 0, 1, "Strength of attraction");
        options.add("--time-step", space_.time_step, 0, 1, "Time between two steps");
        options.add("--damping", space_.damping, 1e-9f, 1, "Added to squared distances");
    }
    std::vector<std::pair<std::string, std::string>> paper() const override
    {
        return {{"--bodies", "20000"}, {"--steps", "100"}};
    }
    std::string paper_text() const override
    {
        return "The paper's figure 10: 20,000 bodies, and 100 steps";
    }
    std::vector<std::pair<std::string, std::string>> versions() const override
    {
        return {{"objects", "with the object store"},
                {"arrays", "by hand"},
                {"pointers", "structures in a slab heap"}};
    }
    std::uint32_t default_steps() const override { return 10; }
    std::uint32_t default_verify_steps() const override { return 10; }
    std::string size() const override
    {
        return std::to_string(space_.bodies) + " bodies, seed " + std::to_string(space_.seed);
    }
    std::unique_ptr<samples::Game> play(const kma::Device &device,
                                        const samples::Setting &setting) override
    {
        if (setting.version == "arrays")
            return play_arrays(device, space_, setting);
        return setting.version == "pointers" ? play_pointers(device, space_, setting)
                                             : play_objects(device, space_, setting);
    }
    void compare(samples::Game &game, std::uint32_t steps, samples::Differences &verdict) override
    {
        const Bodies bodies = samples::state_of<Bodies>(game),
                     right_bodies = reference(space_, steps);
        const Checksum is = checksum(bodies), right = checksum(right_bodies);
        const double n = static_cast<double>(bodies.size()),
                     impulse = 750 * n * std::sqrt(2 * right.energy / (750 * n));
        if (bodies.size() != right_bodies.size())
            verdict.differ("there are " + std::to_string(bodies.size()) + " bodies, the host has " +
                           std::to_string(right_bodies.size()));
        compare_sums("the sum of places, x,", is.x, right.x, n, verdict);
        compare_sums("the sum of places, y,", is.y, right.y, n, verdict);
        compare_sums("the sum of their squares", is.spread, right.spread, n, verdict);
        compare_sums("the impulse, x,", is.impulse_x, right.impulse_x, impulse, verdict);
        compare_sums("the impulse, y,", is.impulse_y, right.impulse_y, impulse, verdict);
        compare_sums("the energy", is.energy, right.energy, right.energy, verdict);
    }
    void draw(samples::Game &game, const std::filesystem::path &path) override
    {
        constexpr std::uint32_t size = 512;
        std::vector<samples::Colour> pixels(size * size, samples::Colour{8, 16, 48});
        for (const Body &body : samples::state_of<Bodies>(game)) {
            const auto place = [](float at) {
                return static_cast<std::int64_t>((double{at} + 1) / 2 * size);
            };
            if (place(body.x) >= 0 && place(body.x) < size && place(body.y) >= 0 &&
                place(body.y) < size)
                pixels[static_cast<std::size_t>(place(body.y) * size + place(body.x))] = {255, 240,
                                                                                          200};
        }
        samples::write_png(path, size, size, pixels);
    }

private:
    Space space_;
};

} // namespace
} // namespace nbody

int main(int argc, char **argv)
{
    nbody::Nbody model;
    return samples::run_simulation(model, argc, argv);
}
