// A material that breaks, by hand, on the host's side.
#include "mesh.hpp"
#include "simulation/plain_game.hpp"

namespace structure {

const std::vector<kma::Source> &kernels();

namespace {

constexpr cl_uint none = ~0u; // same as in arrays.cl

class Arrays : public samples::PlainGame, public samples::StateOf<State> {
public:
    Arrays(const kma::Device &device, const Rules &rules, const samples::Setting &setting)
        : PlainGame(device, kernels(), "arrays.cl", rules.defines(), setting), rules_(rules),
          kinds_(samples::bytes(device, rules.cells())),
          places_(samples::bytes(device, 8ull * rules.cells())),
          velocities_(samples::bytes(device, 8ull * rules.cells())),
          distances_(samples::words(device, rules.cells())),
          springs_(samples::words(device, std::size_t{6} * rules.cells(), none)),
          begins_(samples::words(device, rules.springs())),
          ends_(samples::words(device, rules.springs())),
          rests_(samples::bytes(device, 2ull * rules.springs())),
          stiffnesses_(samples::bytes(device, 2ull * rules.springs())),
          strengths_(samples::bytes(device, 2ull * rules.springs())),
          forces_(samples::bytes(device, 4ull * rules.springs())),
          torn_(samples::words(device, 1, 1)), latest_(samples::words(device, 1, 0))
    {
        program().run("create_nodes", rules.cells(), kinds_, places_, velocities_, distances_);
        program().run("create_springs", rules.springs(), kinds_, begins_, ends_, rests_,
                      stiffnesses_, strengths_, springs_);
    }
    void step(std::uint32_t number) override
    {
        const cl_uint now = number + 1;
        const std::uint32_t nodes = rules_.cells(), springs = rules_.springs();
        program().run("node_pull", nodes, kinds_, places_, velocities_);
        for (std::uint32_t i = 0; i < rules_.relaxations; i++) {
            program().run("spring_pull", springs, begins_, ends_, rests_, stiffnesses_, strengths_,
                          forces_, places_, springs_, now, torn_);
            program().run("node_move", nodes, kinds_, places_, velocities_, springs_, forces_);
        }
        if (read<cl_uint>(torn_, 1)[0] != now)
            return;
        search(device(), latest_, round_, [&](cl_uint loses, cl_uint round) {
            program().run("node_search", nodes, kinds_, springs_, begins_, ends_, distances_, loses,
                          round, latest_);
        });
        program().run("remove_unreached", springs, kinds_, begins_, stiffnesses_, distances_);
    }
    samples::Numbers numbers() override { return numbers_of(state()); }
    State state() override
    {
        const auto kinds = read<cl_uchar>(kinds_, rules_.cells());
        const auto places = read<cl_int2>(places_, rules_.cells()),
                   velocities = read<cl_int2>(velocities_, rules_.cells());
        const auto stiffnesses = read<cl_ushort>(stiffnesses_, rules_.springs());
        const auto forces = read<cl_short2>(forces_, rules_.springs());
        State state(rules_);
        for (std::size_t i = 0; i < kinds.size(); i++)
            if (kinds[i] != 0)
                state.nodes[i] = {true, places[i].s[0], places[i].s[1], velocities[i].s[0],
                                  velocities[i].s[1]};
        for (std::size_t i = 0; i < forces.size(); i++)
            if (stiffnesses[i] != 0)
                state.springs[i] = {true, forces[i].s[0], forces[i].s[1]};
        return state;
    }

private:
    std::vector<cl::Buffer> buffers() override
    {
        return {kinds_, places_,      velocities_, distances_, springs_, begins_, ends_,
                rests_, stiffnesses_, strengths_,  forces_,    torn_,    latest_};
    }

    Rules rules_;
    cl::Buffer kinds_, places_, velocities_, distances_, springs_, begins_, ends_, rests_,
        stiffnesses_, strengths_, forces_;
    // the last step in which a spring tore, from 1; initially 1, because parts of the first mesh
    // may be loose
    cl::Buffer torn_;
    cl::Buffer latest_; // the last round of a search that changed anything
    cl_uint round_ = 0;
};

} // namespace

std::unique_ptr<samples::Game> play_arrays(const kma::Device &device, const Rules &rules,
                                           const samples::Setting &setting)
{
    return std::make_unique<Arrays>(device, rules, setting);
}

} // namespace structure
