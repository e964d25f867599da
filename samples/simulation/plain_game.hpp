// A game with its state in plain buffers.
#pragma once

#include <string>
#include <vector>

#include "common/launch.hpp"
#include "simulation/simulation.hpp"

namespace samples {

/// The base of such games; a derived class adds kernels' launches and buffers.
class PlainGame : public Game {
public:
    /// Builds the source named `file` of `sources`; it may include the others.
    PlainGame(const kma::Device &device, const std::vector<kma::Source> &sources,
              const std::string &file, const std::string &defines, const Setting &setting)
        : device_(device), program_(device, sources, file, defines + " " + setting.build_options)
    {
    }
    Times times() override { return program_.times(); }
    std::uint64_t bytes() override { return bytes_of(buffers()); }

protected:
    /// Returns all buffers of the game's state.
    virtual std::vector<cl::Buffer> buffers() = 0;
    const kma::Device &device() const { return device_; }
    PlainProgram &program() { return program_; }
    template <class T> std::vector<T> read(const cl::Buffer &buffer, std::size_t count) const
    {
        return samples::read<T>(device_, buffer, count);
    }

private:
    kma::Device device_;
    PlainProgram program_;
};

} // namespace samples
