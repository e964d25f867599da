// Wa-Tor by hand.
#include "common/launch.hpp"
#include "ocean.hpp"

namespace wator {

const std::vector<kma::Source> &kernels();

namespace {

std::vector<std::uint8_t> bytes_of(const kma::Device &device, const cl::Buffer &buffer, std::size_t count)
{
    std::vector<std::uint8_t> read(count);
    device.queue().enqueueReadBuffer(buffer, CL_TRUE, 0, count, read.data());
    return read;
}

class Cells : public Game {
public:
    Cells(const kma::Device &device, const Rules &rules)
        : device_(device), rules_(rules),
          program_(device, kernels(), "cells.cl", rules.defines()), who_(device.context(), CL_MEM_READ_WRITE, rules.cells()), age_(device.context(), CL_MEM_READ_WRITE, rules.cells()),
          energy_(device.context(), CL_MEM_READ_WRITE, rules.cells()), going_(device.context(), CL_MEM_READ_WRITE, rules.cells()), requests_(samples::words(device, rules.cells()))
    {
        program_.run("populate", rules.cells(), who_, age_, energy_, going_, requests_);
    }
    const char *name() const override { return "cells"; }
    void step(std::uint32_t number) override
    {
        const cl_uint phase = 2 * number + 1;
        const std::uint32_t all = rules_.cells();
        program_.run("fish_ask", all, phase, who_, age_, requests_);
        program_.run("choose", all, phase, going_, requests_);
        program_.run("fish_move", all, who_, age_, going_);
        program_.run("shark_ask", all, phase + 1, who_, age_, energy_, going_, requests_);
        program_.run("choose", all, phase + 1, going_, requests_);
        program_.run("shark_move", all, who_, age_, energy_, going_);
    }
    Population population() override { return population_of(grid()); }
    Grid grid() override
    {
        const std::size_t all = rules_.cells();
        const auto who = bytes_of(device_, who_, all), age = bytes_of(device_, age_, all), energy = bytes_of(device_, energy_, all);
        Grid grid(all);
        for (std::size_t i = 0; i < all; i++)
            if (who[i] != 0)
                grid[i] = {static_cast<Who>(who[i]), age[i], who[i] == 2 ? energy[i] : std::uint8_t{0}};
        return grid;
    }

    samples::Times times() override { return program_.times(); }

private:
    kma::Device device_;
    Rules rules_;
    samples::PlainProgram program_;
    cl::Buffer who_, age_, energy_, going_, requests_;
};

} // namespace

std::unique_ptr<Game> play_cells(const kma::Device &device, const Rules &rules)
{
    return std::make_unique<Cells>(device, rules);
}

} // namespace wator
