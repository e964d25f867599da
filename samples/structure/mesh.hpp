// The mesh, the rules' constants, and the versions of the simulation.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "common/launch.hpp"
#include "simulation/simulation.hpp"

namespace structure {

/// The rules' constants (rules.cl); lengths are in 1/1024 of a spring's length.
struct Rules {
    std::uint32_t width = 128, height = 64;
    std::uint32_t seed = 42;
    std::uint32_t relaxations = 40; ///< per step
    std::uint32_t pull = 40;        ///< distance that a pulled node moves per step
    std::uint32_t strength = 160;   ///< length by which a spring of stiffness 1 may grow
    std::uint32_t mass = 8;
    std::uint32_t friction = 2;                           ///< of 1024
    std::uint32_t spread = 64;                            ///< of stiffness, of 256
    std::uint32_t missing_nodes = 60, weak_springs = 100; ///< of 1024

    std::uint32_t cells() const { return width * height; } ///< nodes, including missing ones
    /// springs of a mesh without borders and holes
    std::uint32_t springs() const { return 3 * cells(); }
    /// Returns the build options that define them for the device's program.
    std::string defines() const;
};
/// a spring's length, and the distance of two rows, in the unit of places
constexpr std::int32_t length = 16384, row = 14189;
constexpr std::uint32_t unit = length / 1024;       ///< unit of the options' lengths

struct Node {
    bool exists = false;
    std::int32_t x = 0, y = 0, vx = 0, vy = 0;
    bool operator==(const Node &) const = default;
};
struct Spring {
    bool exists = false;
    std::int32_t fx = 0, fy = 0; ///< at its beginning
    bool operator==(const Spring &) const = default;
};
/// Nodes and springs by number: y * width + x for a node; for a spring the number of the node where
/// it begins + its direction * cells().
struct State {
    explicit State(const Rules &rules) : nodes(rules.cells()), springs(rules.springs()) {}
    std::vector<Node> nodes;
    std::vector<Spring> springs;
};
samples::Numbers numbers_of(const State &state);

enum class Purpose : std::uint32_t { whether_missing, how_stiff, how_strong, whether_weak };
std::uint32_t chance(const Rules &rules, std::uint32_t number, Purpose purpose);
/// Returns the node where a spring ends, or nowhere. Directions are right, down right, down left.
std::uint32_t end_of(const Rules &rules, std::uint32_t spring);
constexpr std::uint32_t nowhere = ~0u;
/// Returns the pull at which a spring tears, in units.
std::int32_t strength_of(const Rules &rules, std::uint32_t spring);

/// Runs a search (rules.cl): enqueue(loses, number) enqueues rounds of its first part, then of its
/// second, eight at a time, until the last of them changes nothing. The device's word `latest` is
/// the last round that changed anything; `round` is set to it, and the numbers continue there.
template <class Enqueue>
void search(const kma::Device &device, const cl::Buffer &latest, cl_uint &round, Enqueue enqueue)
{
    constexpr cl_uint at_a_time = 8;
    for (const cl_uint loses : {1u, 0u}) {
        cl_uint last = 0;
        do {
            last = round + at_a_time;
            while (round != last)
                enqueue(loses, ++round);
            round = samples::read<cl_uint>(device, latest, 1)[0];
        } while (round == last);
    }
}

/// With objects (structure.cl).
std::unique_ptr<samples::Game> play_objects(const kma::Device &device, const Rules &rules,
                                            const samples::Setting &setting);
/// By hand, structure of arrays (arrays.cl).
std::unique_ptr<samples::Game> play_arrays(const kma::Device &device, const Rules &rules,
                                           const samples::Setting &setting);
/// Returns the state after `steps` steps on the host.
State reference(const Rules &rules, std::uint32_t steps);

/// Draws springs as lines, coloured by their forces.
void draw(const Rules &rules, const State &state, const std::filesystem::path &path);

} // namespace structure
