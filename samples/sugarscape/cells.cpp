// The sugarscape by hand, on the host's side.
#include "land.hpp"
#include "simulation/plain_game.hpp"

namespace sugarscape {

const std::vector<kma::Source> &kernels();

namespace {

class Cells : public samples::PlainGame, public samples::StateOf<Grid> {
public:
    Cells(const kma::Device &device, const Rules &rules, const samples::Setting &setting)
        : PlainGame(device, kernels(), "cells.cl", rules.defines(), setting), rules_(rules),
          capacities_(samples::copy_of(device, rules.capacities())),
          cells_(samples::bytes(device, 2ull * rules.cells())),
          before_(samples::bytes(device, 2ull * rules.cells())),
          ages_(samples::bytes(device, rules.cells())),
          wishes_(samples::bytes(device, rules.cells())),
          requests_(samples::words(device, rules.cells())),
          genes_(samples::words(device, rules.cells())),
          wealth_(samples::words(device, rules.cells())),
          fathers_(samples::words(device, rules.cells()))
    {
        program().run("populate", rules.cells(), capacities_, cells_, genes_, wealth_, ages_);
    }
    void step(std::uint32_t number) override
    {
        const cl_uint step = number + 1;
        const std::uint32_t all = rules_.cells();
        std::swap(cells_, before_);
        program().run("grow", all, capacities_, before_, cells_, requests_);
        program().run("ask_all", all, step, cells_, requests_, genes_, wealth_, wishes_, fathers_);
        program().run("act_all", all, step, cells_, requests_, genes_, wealth_, ages_, wishes_,
                      fathers_);
    }
    samples::Numbers numbers() override { return population_of(state()); }
    Grid state() override
    {
        const std::size_t all = rules_.cells();
        const auto words = read<cl_ushort>(cells_, all);
        const auto ages = read<cl_uchar>(ages_, all);
        const auto genes = read<cl_uint>(genes_, all), wealth = read<cl_uint>(wealth_, all);
        Grid grid(all);
        for (std::size_t i = 0; i < all; i++) {
            const auto sugar = static_cast<std::uint16_t>(words[i] & sugar_bits);
            const Sex sex = (words[i] & female_bit) != 0 ? Sex::female : Sex::male;
            grid[i] = (words[i] & somebody_bit) != 0
                          ? inhabited(sugar, sex, ages[i], wealth[i], genes[i])
                          : Cell{.sugar = sugar};
        }
        return grid;
    }

private:
    std::vector<cl::Buffer> buffers() override
    {
        return {capacities_, cells_, before_, ages_, wishes_, requests_, genes_, wealth_, fathers_};
    }

    Rules rules_;
    cl::Buffer capacities_, cells_, before_, ages_, wishes_, requests_, genes_, wealth_, fathers_;
};

} // namespace

std::unique_ptr<samples::Game> play_cells(const kma::Device &device, const Rules &rules,
                                          const samples::Setting &setting)
{
    return std::make_unique<Cells>(device, rules, setting);
}

} // namespace sugarscape
