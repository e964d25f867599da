// The collision sample: bodies that merge, as objects on the device.
#include <algorithm>
#include <cmath>

#include "common/png.hpp"
#include "space.hpp"

namespace collision {
namespace {

// For sums of some thousand numbers in single precision, after some dozen steps.
constexpr double tolerance = 5e-5;

// Relative: if a pair's distance is this close to the merge distance, rounding may decide.
constexpr double doubtful = 1e-4;

class Collision : public samples::Model {
public:
    std::string name() const override { return "collision"; }
    std::string about() const override
    {
        return "Bodies that attract each other and merge when they come too close, as objects on\n"
               "the device; for comparison the same in arrays by hand, and as structures in a\n"
               "heap. Compares each body with the host's own simulation in double precision.";
    }
    void describe(samples::OptionList &options) override
    {
        options.add("--bodies", space_.bodies, 1, 1u << 22, "Number of bodies at the start");
        options.add("--seed", space_.seed, 0, ~0u, "Seed of the random draws");
        options.add("--merge-distance", space_.merge_distance, 1e-6f, 1,
                    "Bodies that are closer merge");
        options.add("--gravity", space_.gravity, 0, 1, "Strength of attraction");
        options.add("--time-step", space_.time_step, 0, 100, "Time between two steps");
        options.add("--damping", space_.damping, 1e-6f, 1, "Added to squared distances");
        options.add("--max-mass", space_.max_mass, 1, 1u << 24,
                    "Largest mass of a body at the start, an integer; the smallest is half of it");
        options.add("--speed", space_.speed, 0, 100,
                    "Width of the range of initial velocities, per axis");
    }
    std::vector<std::pair<std::string, std::string>> paper() const override
    {
        return {{"--bodies", "40000"},      {"--steps", "10000"},    {"--merge-distance", "0.0005"},
                {"--gravity", "6.673e-11"}, {"--time-step", "0.01"}, {"--damping", "0.05"},
                {"--max-mass", "75"},       {"--speed", "0.001"}};
    }
    std::string paper_text() const override
    {
        return "40,000 bodies, 10,000 steps, and DynaSOAr's other constants";
    }
    std::vector<std::pair<std::string, std::string>> versions() const override
    {
        return {{"objects", "with the object store"},
                {"arrays", "by hand"},
                {"pointers", "structures in a slab heap"}};
    }
    std::uint32_t default_steps() const override { return 50; }
    std::uint32_t default_verify_steps() const override { return 10; }
    std::string size() const override
    {
        if (std::uint64_t{space_.bodies} * space_.max_mass > 1u << 24)
            throw kma::Error(std::to_string(space_.bodies) + " bodies of mass up to " +
                             std::to_string(space_.max_mass) +
                             " may have more than 2^24 in all, and sums would not be exact; take "
                             "fewer bodies, or a smaller --max-mass");
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
        const Bodies bodies = samples::state_of<Bodies>(game);
        const auto [right, closest_call] = reference(space_, steps);
        const bool is_alike =
            std::equal(bodies.begin(), bodies.end(), right.begin(), right.end(),
                       [](const Body &one, const Body &other) {
                           return one.number == other.number && one.mass == other.mass;
                       });
        if (!is_alike) { // comparing places is pointless
            const char *doubt = closest_call < doubtful
                                    ? "; at some step rounding may have decided whether two are "
                                      "near enough: try another --seed"
                                    : "";
            verdict.differ(
                "not the same bodies merged as on the host: " + std::to_string(bodies.size()) +
                " are left, there " + std::to_string(right.size()) + doubt);
            return;
        }
        double fastest = 0;
        for (const Body &body : right)
            fastest = std::max(fastest, std::hypot(body.vx, body.vy));
        for (std::size_t i = 0; i < right.size(); i++) {
            const Body &is = bodies[i], &host = right[i];
            if (!(std::hypot(is.x - host.x, is.y - host.y) <= tolerance) ||
                !(std::hypot(is.vx - host.vx, is.vy - host.vy) <= tolerance * fastest))
                verdict.differ("body " + std::to_string(is.number) + " is at " +
                               std::to_string(is.x) + ", " + std::to_string(is.y) +
                               ", or has another velocity; the host has it at " +
                               std::to_string(host.x) + ", " + std::to_string(host.y));
        }
    }
    void draw(samples::Game &game, const std::filesystem::path &path) override;

private:
    Space space_;
};

// Draws discs; their area is proportional to the mass.
void Collision::draw(samples::Game &game, const std::filesystem::path &path)
{
    constexpr int size = 512;
    std::vector<samples::Colour> pixels(size * size, samples::Colour{8, 16, 48});
    const auto pixel = [](double at) { return static_cast<int>(std::lround((at + 1) / 2 * size)); };
    for (const Body &body : samples::state_of<Bodies>(game)) {
        const int x = pixel(body.x), y = pixel(body.y),
                  radius = static_cast<int>(std::sqrt(body.mass / space_.max_mass));
        for (int row = std::max(0, y - radius); row <= std::min(size - 1, y + radius); row++)
            for (int column = std::max(0, x - radius); column <= std::min(size - 1, x + radius);
                 column++)
                if ((row - y) * (row - y) + (column - x) * (column - x) <= radius * radius)
                    pixels[static_cast<std::size_t>(row * size + column)] = {255, 240, 200};
    }
    samples::write_png(path, size, size, pixels);
}

} // namespace
} // namespace collision

int main(int argc, char **argv)
{
    collision::Collision model;
    return samples::run_simulation(model, argc, argv);
}
