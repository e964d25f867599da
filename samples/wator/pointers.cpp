// Wa-Tor with structures in a slab heap, on the host's side.
#include "ocean.hpp"
#include "simulation/plain_game.hpp"

namespace wator {

const std::vector<kma::Source> &kernels();

namespace {

class Pointers : public samples::PlainGame, public samples::StateOf<Grid> {
public:
    Pointers(const kma::Device &device, const Rules &rules, const samples::Setting &setting)
        : PlainGame(device, kernels(), "pointers.cl", rules.defines(), setting), rules_(rules),
          heap_(device, setting.bytes.value_or(enough(rules))),
          cells_(samples::words(device, rules.cells())),
          requests_(samples::words(device, rules.fours(), 0)), lists_{samples::words(
                                                                       device, 2 * rules.cells()),
                                                                   samples::words(
                                                                       device, 2 * rules.cells())},
          people_(samples::words(device, 3, 0)), before_(samples::words(device, 1))
    {
        program().run("populate", rules.cells(), heap_, cells_, lists_[0], people_);
    }
    void step(std::uint32_t number) override
    {
        for (cl_uint is_shark = 0; is_shark < 2; is_shark++) {
            const cl_uint phase = 2 * number + 1 + is_shark;
            program().run("note", 1, people_, before_);
            program().run("ask_all", program().strided(), heap_, is_shark, phase, before_, cells_,
                          requests_, lists_[0]);
            program().run("choose", rules_.fours(), heap_, phase, cells_, requests_);
            program().run("move_all", program().strided(), heap_, is_shark, before_, cells_,
                          lists_[0], people_);
        }
        program().run("bury", program().strided(), heap_, lists_[0], lists_[1], people_);
        program().run("go_on", 1, people_);
        std::swap(lists_[0], lists_[1]);
    }
    samples::Numbers numbers() override { return population_of(state()); }
    Grid state() override
    {
        struct Agent { // of pointers.cl
            cl_uint cell, target, is_shark;
            cl_uchar age, energy, pad[2];
        };
        const kma::Snapshot snapshot = heap_.snapshot();
        Grid grid(rules_.cells());
        for (const kma::Ref ref : read<kma::Ref>(lists_[0], read<cl_uint>(people_, 1)[0])) {
            const Agent *agent = snapshot.deref<Agent>(ref);
            grid.at(agent->cell) = {agent->is_shark ? Kind::shark : Kind::fish, agent->age,
                                    agent->is_shark ? agent->energy : std::uint8_t{0}};
        }
        return grid;
    }
    std::uint64_t refused() override { return read<cl_uint>(people_, 3)[2]; }
    std::vector<std::string> faults() override { return heap_.check(); }
    std::uint64_t bytes() override { return PlainGame::bytes() + heap_.bytes(); }

private:
    static std::uint64_t enough(const Rules &rules)
    {
        return kma::Heap::bytes_for({}, {{16, 2ull * rules.cells()}});
    }

    std::vector<cl::Buffer> buffers() override
    {
        return {cells_, requests_, lists_[0], lists_[1], people_, before_};
    }

    Rules rules_;
    kma::Heap heap_;
    cl::Buffer cells_, requests_, lists_[2], people_, before_;
};

} // namespace

std::unique_ptr<samples::Game> play_pointers(const kma::Device &device, const Rules &rules,
                                             const samples::Setting &setting)
{
    return std::make_unique<Pointers>(device, rules, setting);
}

} // namespace wator
