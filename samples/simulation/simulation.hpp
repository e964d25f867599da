// What the simulations on the object store have in common: a model, the ways to play it on a
// device, and the program that plays, times, draws and verifies one.
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

/// Names and values of a game's state, in the order in which they are printed; those of two games
/// of one model have the same names.
using Numbers = std::vector<std::pair<std::string, std::uint64_t>>;

/// One way to play a model on a device.
class Game {
public:
    virtual ~Game() = default;
    /// Enqueues a step, numbered from 0 on, one after the other.
    virtual void step(std::uint32_t number) = 0;
    /// What there is now; waits for the steps.
    virtual Numbers numbers() = 0;
    /// Of all kernels since the last call; waits for the steps.
    virtual Times times() = 0;
    /// Whether there is nothing to do any more: then no further step follows. Asked after each, so
    /// it may only wait if the model needs it.
    virtual bool is_over() { return false; }
    /// Objects that were not created for want of memory.
    virtual std::uint64_t refused() { return 0; }
    /// Of slots in blocks those that are empty, where there are such.
    virtual double fragmentation() { return 0; }
    /// What is wrong, in sentences.
    virtual std::vector<std::string> faults() { return {}; }
    /// Kernels that create or delete objects.
    virtual std::vector<std::string> changing_kernels() { return {}; }
    /// Bytes of device memory that the game's state takes.
    virtual std::uint64_t bytes() = 0;
};

/// A game that can tell its whole state, as the model's own simulation on the host has it; waits
/// for the steps.
template <class State> class StateOf {
public:
    virtual ~StateOf() = default;
    virtual State state() = 0;
};
template <class State> State state_of(Game &game)
{
    return dynamic_cast<StateOf<State> &>(game).state();
}

/// What the program's own options say to a game.
struct Setting {
    std::string version;                ///< one of Model::versions
    std::optional<std::uint64_t> bytes; ///< of the world or heap; none: enough
    std::string build_options;          ///< for the compiler, after the model's own
    float defragment_when = 1;          ///< World::defragment_when; 1: never
    /// whether the library shall check what do-alls say they change
    bool debug = false;
};

/// Where a model declares its options.
class OptionList {
public:
    virtual ~OptionList() = default;
    /// Numbers from `least` to `most`; what `value` is now is the default, and written down in the
    /// help.
    virtual void add(const std::string &name, std::uint32_t &value, std::uint32_t least,
                     std::uint32_t most, const std::string &text) = 0;
    virtual void add(const std::string &name, float &value, float least, float most,
                     const std::string &text) = 0;
    virtual void add(const std::string &name, std::string &value, const std::string &text) = 0;
};

/// A simulation's rules: its options, and what plays it.
class Model {
public:
    virtual ~Model() = default;
    /// Of the program.
    virtual std::string name() const = 0;
    /// A sentence or two for the help.
    virtual std::string about() const = 0;
    virtual void describe(OptionList &options) = 0;
    /// Options and their values with --paper; "--steps" is one. And what that is, for the help.
    virtual std::vector<std::pair<std::string, std::string>> paper() const = 0;
    virtual std::string paper_text() const = 0;
    /// Ways to play it, and what they are; the first is the default.
    virtual std::vector<std::pair<std::string, std::string>> versions() const = 0;
    virtual std::uint32_t default_steps() const = 0;
    /// At most so many steps are verified unless the options say otherwise; float models drift from
    /// the host's, and some hosts are slow.
    virtual std::uint32_t default_verify_steps() const { return ~0u; }
    /// Whether it goes on in its own way when objects are refused for want of memory. If not, the
    /// program ends with an error.
    virtual bool goes_on_when_full() const { return false; }
    /// The size, for people: "256 x 256 cells, seed 42". After the options are read; throws
    /// kma::Error if they do not fit together.
    virtual std::string size() const = 0;
    virtual std::unique_ptr<Game> play(const kma::Device &device, const Setting &setting) = 0;
    /// Plays so many steps on the host, in a way of its own, and notes where the game's state,
    /// after as many, is another.
    virtual void compare(Game &game, std::uint32_t steps, Differences &verdict) = 0;
    /// Writes a picture of the game's state.
    virtual void draw(Game &game, const std::filesystem::path &path) = 0;
};

/// The whole program: reads the options, plays, says what came of it; the last line ends with
/// verified=yes, no, "not asked", or, where objects lack, "not possible". The exit code.
int run_simulation(Model &model, int argc, char **argv);

} // namespace samples
