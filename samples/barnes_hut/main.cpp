// The Barnes-Hut sample: bodies and cells of an octree as objects on the device.
#include <algorithm>
#include <cmath>

#include "common/png.hpp"
#include "space.hpp"

namespace barnes_hut {
namespace {

// For places, and for velocities relative to the fastest body's, after some dozen steps in single
// precision. Rounding causes differences of about 1e-7. Rarely it decides whether a cell is near;
// then a force differs by the error of that cell's approximation.
constexpr double tolerance = 1e-4;
// For the root mean square of velocity differences: such cases are rare and small.
constexpr double mean_tolerance = 2e-6;
// For a cell's mass and centre, relative.
constexpr double sum_tolerance = 1e-5;
// For the root mean square of the tree's forces against those of all pairs: usually 0.5 % with
// --theta 0.5, and 1 % if forces nearly cancel out.
constexpr double force_tolerance = 0.02;

double distance(const Vector &one, const Vector &other)
{
    return std::hypot(one[0] - other[0], one[1] - other[1], one[2] - other[2]);
}

std::string name_of(const Cell &cell)
{
    return "the cell of level " + std::to_string(cell.level) + " at " +
           std::to_string(cell.corner[0]) + ", " + std::to_string(cell.corner[1]) + ", " +
           std::to_string(cell.corner[2]);
}

// Compares the device's tree with the tree that the bodies' places determine.
void compare_cells(const State &state, const Space &space, samples::Differences &verdict)
{
    if (state.lost != 0)
        verdict.differ(std::to_string(state.lost) + " cells are not in the tree");
    const Cells right = cells_over(state.bodies, space);
    if (state.cells.size() != right.size())
        verdict.differ("the tree has " + std::to_string(state.cells.size()) +
                       " cells, the host's over the same places " + std::to_string(right.size()));
    for (std::size_t i = 0; i < std::min(right.size(), state.cells.size()); i++) {
        const Cell &is = state.cells[i], &host = right[i];
        if (is.level != host.level || is.corner != host.corner || is.own != host.own ||
            is.bodies != host.bodies)
            verdict.differ(name_of(is) + " should be " + name_of(host) + ", or has other bodies");
        else if (!(std::abs(is.mass - host.mass) <= sum_tolerance * host.mass) ||
                 !(distance(is.centre, host.centre) <= sum_tolerance))
            verdict.differ(name_of(is) + " has another mass, or centre of mass, than the host's");
    }
}

void compare_bodies(const Bodies &bodies, const Bodies &right, samples::Differences &verdict)
{
    double fastest = 0, squares = 0;
    for (const Body &body : right)
        fastest = std::max(fastest, distance(body.velocity, {}));
    for (std::size_t i = 0; i < right.size(); i++) {
        const Body &is = bodies[i], &host = right[i];
        const double away = distance(is.place, host.place),
                     faster = distance(is.velocity, host.velocity);
        squares += faster * faster;
        if (is.number != host.number || !(away <= tolerance) || !(faster <= tolerance * fastest))
            verdict.differ("body " + std::to_string(is.number) + " is " + std::to_string(away) +
                           " away from where the host has it, or has another velocity");
    }
    if (!(std::sqrt(squares / static_cast<double>(right.size())) <= mean_tolerance * fastest))
        verdict.differ("bodies have other velocities than the host's, though each but a little");
}

class BarnesHut : public samples::Model {
public:
    std::string name() const override { return "barnes_hut"; }
    std::string about() const override
    {
        return "Bodies that attract each other, by Barnes and Hut's octree: bodies and cells are\n"
               "objects on the device, and the tree changes as bodies move. Compares every cell\n"
               "with the tree that the bodies' places determine, and bodies with the host's\n"
               "simulation.";
    }
    void describe(samples::OptionList &options) override
    {
        options.add("--bodies", space_.bodies, 1, 1u << 22, "Number of bodies");
        options.add("--seed", space_.seed, 0, ~0u, "Seed of the random draws");
        options.add("--depth", space_.depth, 1, 23,
                    "Levels of the tree; bodies that share an octant of the last one form a chain");
        options.add("--theta", space_.theta, 0.01f, 0.57f,
                    "A cell attracts as a whole from a distance of its width divided by this");
        options.add("--gravity", space_.gravity, 0, 1, "Strength of attraction");
        options.add("--time-step", space_.time_step, 0, 100, "Time between two steps");
        options.add("--damping", space_.damping, 1e-9f, 1, "Added to squared distances");
        options.add("--max-mass", space_.max_mass, 1e-3f, 1e6f,
                    "Largest mass of a body; the smallest is half of it");
        options.add("--speed", space_.speed, 0, 100,
                    "Width of the range of initial velocities, per axis");
        options.add("--spin", space_.spin, 0, 100, "Initial rotation of all bodies around an axis");
        options.add("--spread", space_.spread, 0, 1,
                    "Half the width of the cube with all bodies at the start; 0: all at one place");
    }
    std::vector<std::pair<std::string, std::string>> paper() const override
    {
        return {{"--bodies", "300000"},    {"--steps", "4000"},   {"--gravity", "6.673e-11"},
                {"--time-step", "0.0075"}, {"--damping", "0.05"}, {"--max-mass", "1000"},
                {"--speed", "0.001"},      {"--spin", "0"}};
    }
    std::string paper_text() const override
    {
        return "DynaSOAr's constants: 300,000 bodies, 4,000 steps";
    }
    std::vector<std::pair<std::string, std::string>> versions() const override
    {
        return {{"objects", "with the object store, the tree changes"},
                {"rebuilt", "the same, built anew in each step"},
                {"arrays", "by hand, built anew"}};
    }
    std::uint32_t default_steps() const override { return 20; }
    std::uint32_t default_verify_steps() const override { return 10; }
    std::string size() const override
    {
        return std::to_string(space_.bodies) + " bodies, " + std::to_string(space_.depth) +
               " levels, seed " + std::to_string(space_.seed);
    }
    std::unique_ptr<samples::Game> play(const kma::Device &device,
                                        const samples::Setting &setting) override
    {
        return setting.version == "arrays" ? play_arrays(device, space_, setting)
                                           : play_objects(device, space_, setting);
    }
    void compare(samples::Game &game, std::uint32_t steps, samples::Differences &verdict) override
    {
        const State state = samples::state_of<State>(game);
        if (state.bodies.size() != space_.bodies) {
            verdict.differ("there are " + std::to_string(state.bodies.size()) + " bodies");
            return;
        }
        compare_cells(state, space_, verdict);
        compare_bodies(state.bodies, reference(space_, steps), verdict);
        if (const double error = force_error(state.bodies, space_); !(error <= force_tolerance))
            verdict.differ("forces by the tree differ by " + std::to_string(100 * error) +
                           " % from those by all pairs");
    }
    void draw(samples::Game &game, const std::filesystem::path &path) override;

private:
    Space space_;
};

// Draws a view along the z axis: outlines of cells, the smaller the brighter, and bodies.
void BarnesHut::draw(samples::Game &game, const std::filesystem::path &path)
{
    constexpr std::uint32_t size = 512;
    std::vector<samples::Colour> pixels(size * size, samples::Colour{8, 16, 48});
    const State state = samples::state_of<State>(game);
    for (const Cell &cell : state.cells) {
        const std::uint32_t width = size >> cell.level, left = cell.corner[0] * width,
                            top = cell.corner[1] * width;
        const auto shade = static_cast<std::uint8_t>(48 + 16 * cell.level);
        for (std::uint32_t i = 0; i < width && width >= 4; i++)
            for (const std::uint32_t at : {top * size + left + i, (top + i) * size + left})
                pixels[at] = {8, shade, shade};
    }
    for (const Body &body : state.bodies) {
        const auto pixel = [](double at) {
            return static_cast<std::uint32_t>(std::min((at + 1) / 2 * size, size - 1.0));
        };
        pixels[pixel(body.place[1]) * size + pixel(body.place[0])] = {255, 240, 200};
    }
    samples::write_png(path, size, size, pixels);
}

} // namespace
} // namespace barnes_hut

int main(int argc, char **argv)
{
    barnes_hut::BarnesHut model;
    return samples::run_simulation(model, argc, argv);
}
