// Bodies in arrays by hand, on the host's side.
#include <algorithm>

#include "simulation/plain_game.hpp"
#include "space.hpp"

namespace collision {

const std::vector<kma::Source> &kernels();

namespace {

class Arrays : public samples::PlainGame, public samples::StateOf<Bodies> {
public:
    Arrays(const kma::Device &device, const Space &space, const samples::Setting &setting)
        : PlainGame(device, kernels(), "arrays.cl", space.defines(), setting), space_(space),
          places_(vectors(device, space)), velocities_(vectors(device, space)),
          masses_(samples::words(device, space.bodies)), neighbours_(vectors(device, space))
    {
        program().run("arrays_init", space.bodies, places_, velocities_, masses_);
    }
    void step(std::uint32_t) override
    {
        program().run("arrays_look", space_.bodies, places_, velocities_, masses_, neighbours_);
        program().run("arrays_merge_and_move", space_.bodies, places_, velocities_, masses_,
                      neighbours_);
    }
    samples::Numbers numbers() override { return {{"bodies", state().size()}}; }
    Bodies state() override
    {
        const auto places = read<cl_float2>(places_, space_.bodies),
                   velocities = read<cl_float2>(velocities_, space_.bodies);
        const auto masses = read<float>(masses_, space_.bodies);
        Bodies bodies;
        for (std::uint32_t i = 0; i < space_.bodies; i++)
            if (masses[i] != 0)
                bodies.push_back({i, masses[i], places[i].s[0], places[i].s[1], velocities[i].s[0],
                                  velocities[i].s[1]});
        return bodies;
    }

private:
    static cl::Buffer vectors(const kma::Device &device, const Space &space)
    {
        return samples::words(device, std::size_t{2} * space.bodies);
    }
    std::vector<cl::Buffer> buffers() override
    {
        return {places_, velocities_, masses_, neighbours_};
    }

    Space space_;
    cl::Buffer places_, velocities_, masses_, neighbours_;
};

} // namespace

std::unique_ptr<samples::Game> play_arrays(const kma::Device &device, const Space &space,
                                           const samples::Setting &setting)
{
    return std::make_unique<Arrays>(device, space, setting);
}

} // namespace collision
