// What the simulations share: a model, the versions of its game on a device, and the program that
// plays, times, draws and verifies one of them.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/differences.hpp"
#include "common/plain_program.hpp"

namespace samples {

/// Names and values that describe a game's state, in the order in which they are printed. All games
/// of one model have the same names.
using Numbers = std::vector<std::pair<std::string, std::uint64_t>>;

/// One version of a model on a device.
class Game {
public:
    virtual ~Game() = default;
    /// Enqueues step `number`; steps are numbered from 0 and enqueued in order.
    virtual void step(std::uint32_t number) = 0;
    /// Returns the current numbers; waits for the steps.
    virtual Numbers numbers() = 0;
    /// Returns the times of all kernels since the last call; waits for the steps.
    virtual Times times() = 0;
    /// True if the game has ended and no step may follow. Called after each step: it should wait
    /// for the device only if the model requires it.
    virtual bool is_over() { return false; }
    /// Returns the number of objects that were not created because memory ran out.
    virtual std::uint64_t refused() { return 0; }
    /// Returns the share of empty slots in the blocks; 0 without such blocks.
    virtual double fragmentation() { return 0; }
    /// Returns sentences that say what is wrong.
    virtual std::vector<std::string> faults() { return {}; }
    /// Returns the names of kernels that create or delete objects.
    virtual std::vector<std::string> changing_kernels() { return {}; }
    /// Returns the bytes of device memory that the game's state takes.
    virtual std::uint64_t bytes() = 0;
};

/// A game that can return its whole state in the form of the model's host simulation; waits for the
/// steps.
template <class State> class StateOf {
public:
    virtual ~StateOf() = default;
    virtual State state() = 0;
};
template <class State> State state_of(Game &game)
{
    return dynamic_cast<StateOf<State> &>(game).state();
}

/// The program's options for a game.
struct Setting {
    std::string version;                ///< one of Model::versions
    std::optional<std::uint64_t> bytes; ///< of the world or heap; none: enough
    std::string build_options;          ///< for the OpenCL compiler, after the model's own
    float defragment_when = 1;          ///< World::defragment_when; 1: never
    /// whether the library checks that do-alls change only what they declare
    bool debug = false;
};

/// A model declares its options here.
class OptionList {
public:
    virtual ~OptionList() = default;
    /// Adds a number from `least` to `most`. The current `value` is the default, and the help shows
    /// it.
    virtual void add(const std::string &name, std::uint32_t &value, std::uint32_t least,
                     std::uint32_t most, const std::string &text) = 0;
    virtual void add(const std::string &name, float &value, float least, float most,
                     const std::string &text) = 0;
    virtual void add(const std::string &name, std::string &value, const std::string &text) = 0;
};

/// A simulation: its rules, its options, and its versions.
class Model {
public:
    virtual ~Model() = default;
    /// Returns the program's name.
    virtual std::string name() const = 0;
    /// Returns a sentence or two for the help.
    virtual std::string about() const = 0;
    virtual void describe(OptionList &options) = 0;
    /// Returns the options and values that --paper sets; "--steps" may be one. paper_text()
    /// describes them in the help.
    virtual std::vector<std::pair<std::string, std::string>> paper() const = 0;
    virtual std::string paper_text() const = 0;
    /// Returns the versions with their descriptions; the first is the default.
    virtual std::vector<std::pair<std::string, std::string>> versions() const = 0;
    virtual std::uint32_t default_steps() const = 0;
    /// Returns the number of steps to verify unless the options say otherwise. Floating-point
    /// models drift from the host's, and some host simulations are slow.
    virtual std::uint32_t default_verify_steps() const { return ~0u; }
    /// True if the model goes on when memory runs out and objects are not created. If false, the
    /// program ends with an error.
    virtual bool goes_on_when_full() const { return false; }
    /// Returns the size as text: "256 x 256 cells, seed 42". Called after the options are read.
    /// Throws kma::Error if the options contradict each other.
    virtual std::string size() const = 0;
    virtual std::unique_ptr<Game> play(const kma::Device &device, const Setting &setting) = 0;
    /// Plays `steps` steps on the host, by code of its own, and notes where the game's state after
    /// as many steps differs.
    virtual void compare(Game &game, std::uint32_t steps, Differences &verdict) = 0;
    /// Writes a picture of the game's state.
    virtual void draw(Game &game, const std::filesystem::path &path) = 0;
};

/// The whole program: reads the options, plays, prints the results. The last line ends with
/// verified=yes, no, "not asked", or, if objects are missing, "not possible". Returns the exit
/// code.
int run_simulation(Model &model, int argc, char **argv);

} // namespace samples
