// Breadth-first search by hand, on the host's side.
#include <algorithm>
#include <utility>

#include "network.hpp"
#include "simulation/plain_game.hpp"

namespace bfs {

const std::vector<kma::Source> &kernels();

namespace {

class Arrays : public samples::PlainGame, public samples::StateOf<Levels> {
public:
    Arrays(const kma::Device &device, const Search &search, const Network &network,
           const samples::Setting &setting)
        : PlainGame(device, kernels(), "arrays.cl", defines(search), setting), network_(network),
          firsts_(samples::copy_of(device, network.firsts)),
          targets_(network.edges() != 0 ? samples::copy_of(device, network.targets)
                                        : samples::words(device, 1)),
          levels_(samples::words(device, network.nodes(), unreached)),
          queue_(samples::words(device, 2 * std::max<std::size_t>(network.parts(search.part), 1))),
          tail_(samples::words(device, 1))
    {
        program().run("start", 1, network.from, firsts_, levels_, queue_, tail_);
        end_ = read<cl_uint>(tail_, 1)[0];
    }
    void step(std::uint32_t number) override
    {
        program().run("follow", std::max(end_ - begin_, 1u), cl_uint{number + 1}, begin_, end_,
                      firsts_, targets_, levels_, queue_, tail_);
        begin_ = std::exchange(end_, read<cl_uint>(tail_, 1)[0]);
        is_over_ = begin_ == end_;
    }
    bool is_over() override { return is_over_; }
    samples::Numbers numbers() override { return numbers_of(network_, state()); }
    Levels state() override { return read<cl_uint>(levels_, network_.nodes()); }

private:
    std::vector<cl::Buffer> buffers() override
    {
        return {firsts_, targets_, levels_, queue_, tail_};
    }

    const Network &network_;
    cl::Buffer firsts_, targets_, levels_, queue_, tail_;
    cl_uint begin_ = 0, end_ = 0; // the frontier in the queue
    bool is_over_ = false;
};

} // namespace

std::unique_ptr<samples::Game> play_arrays(const kma::Device &device, const Search &search,
                                           const Network &network, const samples::Setting &setting)
{
    return std::make_unique<Arrays>(device, search, network, setting);
}

} // namespace bfs
