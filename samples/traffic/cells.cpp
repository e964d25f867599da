// Traffic by hand, on the host's side.
#include <algorithm>
#include <utility>

#include "network.hpp"
#include "simulation/plain_game.hpp"

namespace traffic {

const std::vector<kma::Source> &kernels();

namespace {

class Cells : public samples::PlainGame, public samples::StateOf<Spots> {
public:
    Cells(const kma::Device &device, const Rules &rules, const Network &network,
          const samples::Setting &setting)
        : PlainGame(device, kernels(), "cells.cl", rules.defines(), setting),
          cells_(network.cells()), source_count_(static_cast<cl_uint>(network.sources.size())),
          streets_(samples::copy_of(device, network.streets)),
          street_of_(samples::copy_of(device, network.street_of)),
          is_sink_(samples::copy_of(device, network.is_sink)),
          sources_(source_count_ == 0 ? samples::words(device, 1)
                                      : samples::copy_of(device, network.sources)),
          now_(empty_cells()), then_(empty_cells()), after_(empty_cells()),
          lucks_(samples::words(device, cells_)), lucks_then_(samples::words(device, cells_))
    {
    }
    void step(std::uint32_t number) override
    {
        program().run("make", std::max(1u, source_count_), cl_uint{number}, source_count_, sources_,
                      now_, lucks_);
        program().run("drive", cells_, cl_uint{number}, cells_, streets_, street_of_, is_sink_,
                      now_, then_, after_, lucks_, lucks_then_);
        std::swap(now_, then_);
        std::swap(then_, after_);
        std::swap(lucks_, lucks_then_);
    }
    samples::Numbers numbers() override { return numbers_of(state()); }
    Spots state() override
    {
        const auto speeds = read<cl_uchar>(now_, cells_);
        const auto lucks = read<cl_uint>(lucks_, cells_);
        Spots spots(cells_);
        for (std::size_t i = 0; i < cells_; i++)
            if (speeds[i] != 0)
                spots[i] = {lucks[i], static_cast<std::uint8_t>(speeds[i] - 1), true};
        return spots;
    }

private:
    cl::Buffer empty_cells() const { return samples::words(device(), cells_ / 4 + 1, 0); }
    std::vector<cl::Buffer> buffers() override
    {
        return {streets_, street_of_, is_sink_, sources_, now_, then_, after_, lucks_, lucks_then_};
    }

    cl_uint cells_, source_count_;
    cl::Buffer streets_, street_of_, is_sink_, sources_; // the network
    cl::Buffer now_, then_, after_, lucks_, lucks_then_; // the vehicles
};

} // namespace

std::unique_ptr<samples::Game> play_cells(const kma::Device &device, const Rules &rules,
                                          const Network &network, const samples::Setting &setting)
{
    return std::make_unique<Cells>(device, rules, network, setting);
}

} // namespace traffic
