// The game of life by hand, on the host's side.
#include <algorithm>
#include <utility>

#include "life.hpp"
#include "simulation/plain_game.hpp"

namespace game_of_life {

const std::vector<kma::Source> &kernels();

namespace {

class AllCells : public samples::PlainGame, public samples::StateOf<Board> {
public:
    AllCells(const kma::Device &device, const Rules &rules, const samples::Setting &setting)
        : PlainGame(device, kernels(), "cells.cl", rules.defines(), setting), rules_(rules),
          row_(rules.width / 4 + 1),
          words_((rules.height + 2) * row_ + 2), grids_{samples::words(device, words_, 0),
                                                        samples::words(device, words_, 0)}
    {
        std::vector<cl_uchar> bytes(std::size_t{4} * words_);
        for (const std::uint32_t cell : first_cells(rules))
            bytes[place(cell % rules.width, cell / rules.width)] = 1;
        device.queue().enqueueWriteBuffer(grids_[0], CL_TRUE, 0, bytes.size(), bytes.data());
    }
    void step(std::uint32_t) override
    {
        program().run("cells_step", rules_.height * row_, grids_[0], grids_[1]);
        std::swap(grids_[0], grids_[1]);
    }
    samples::Numbers numbers() override { return population_of(state()); }
    Board state() override { return board_of(rules_, live(grids_[0]), live(grids_[1])); }

private:
    // Returns the index of a cell's byte (cells.cl).
    std::size_t place(std::uint32_t x, std::uint32_t y) const
    {
        return 4 * (std::size_t{row_} * (y + 1) + 1) + x;
    }
    Cells live(const cl::Buffer &grid) const
    {
        const auto bytes = read<cl_uchar>(grid, std::size_t{4} * words_);
        Cells cells;
        for (std::uint32_t cell = 0; cell < rules_.cells(); cell++)
            if (bytes[place(cell % rules_.width, cell / rules_.width)] != 0)
                cells.push_back(cell);
        return cells;
    }
    std::vector<cl::Buffer> buffers() override { return {grids_[0], grids_[1]}; }

    Rules rules_;
    std::uint32_t row_, words_; // words per row, and per grid
    cl::Buffer grids_[2];       // the current grid, and the previous one
};

} // namespace

std::unique_ptr<samples::Game> play_cells(const kma::Device &device, const Rules &rules,
                                          const samples::Setting &setting)
{
    return std::make_unique<AllCells>(device, rules, setting);
}

} // namespace game_of_life
