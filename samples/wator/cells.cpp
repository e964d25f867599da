// Wa-Tor by hand, on the host's side.
#include "ocean.hpp"
#include "simulation/plain_game.hpp"

namespace wator {

const std::vector<kma::Source> &kernels();

namespace {

class Cells : public samples::PlainGame, public samples::StateOf<Grid> {
public:
    Cells(const kma::Device &device, const Rules &rules, const samples::Setting &setting)
        : PlainGame(device, kernels(), "cells.cl", rules.defines(), setting), rules_(rules),
          kind_(samples::bytes(device, rules.cells())), age_(samples::bytes(device, rules.cells())),
          energy_(samples::bytes(device, rules.cells())),
          going_(samples::bytes(device, rules.cells())),
          requests_(samples::words(device, rules.fours(), 0))
    {
        program().run("populate", rules.cells(), kind_, age_, energy_, going_);
    }
    void step(std::uint32_t number) override
    {
        const cl_uint phase = 2 * number + 1;
        const std::uint32_t all = rules_.cells();
        program().run("fish_ask", all, phase, kind_, age_, requests_);
        program().run("choose", rules_.fours(), phase, going_, requests_);
        program().run("fish_move", all, kind_, age_, going_);
        program().run("shark_ask", all, phase + 1, kind_, age_, energy_, going_, requests_);
        program().run("choose", rules_.fours(), phase + 1, going_, requests_);
        program().run("shark_move", all, kind_, age_, energy_, going_);
    }
    samples::Numbers numbers() override { return population_of(state()); }
    Grid state() override
    {
        const std::size_t all = rules_.cells();
        const auto kind = read<cl_uchar>(kind_, all), age = read<cl_uchar>(age_, all),
                   energy = read<cl_uchar>(energy_, all);
        Grid grid(all);
        for (std::size_t i = 0; i < all; i++)
            if (kind[i] != 0)
                grid[i] = {static_cast<Kind>(kind[i]), age[i],
                           kind[i] == 2 ? energy[i] : std::uint8_t{0}};
        return grid;
    }

private:
    std::vector<cl::Buffer> buffers() override { return {kind_, age_, energy_, going_, requests_}; }

    Rules rules_;
    cl::Buffer kind_, age_, energy_, going_, requests_;
};

} // namespace

std::unique_ptr<samples::Game> play_cells(const kma::Device &device, const Rules &rules,
                                          const samples::Setting &setting)
{
    return std::make_unique<Cells>(device, rules, setting);
}

} // namespace wator
