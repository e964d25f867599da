// The mesh, its rules' numbers, and what plays it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "common/launch.hpp"
#include "simulation/simulation.hpp"

namespace structure {

/// The rules' numbers (rules.cl), with lengths in 1/1024 of a spring's.
struct Rules {
    std::uint32_t width = 128, height = 64;
    std::uint32_t seed = 42;
    std::uint32_t relaxations = 40; ///< in a step
    std::uint32_t pull = 40;        ///< way of a pulled node in a step
    std::uint32_t strength = 160;   ///< length by which a spring of stiffness 1 may grow
    std::uint32_t mass = 8;
    std::uint32_t friction = 2;                           ///< of 1024
    std::uint32_t spread = 64;                            ///< of stiffness, of 256
    std::uint32_t missing_nodes = 60, weak_springs = 100; ///< of 1024

    std::uint32_t cells() const { return width * height; } ///< nodes with those that are missing
    /// that a mesh without borders and holes would have
    std::uint32_t springs() const { return 3 * cells(); }
    /// As the device's program has them.
    std::string defines() const;
};
/// of a spring, and from one row to the next, in the units of places
constexpr std::int32_t length = 16384, row = 14189;
constexpr std::uint32_t unit = length / 1024;       ///< of the options' lengths

struct Node {
    bool exists = false;
    std::int32_t x = 0, y = 0, vx = 0, vy = 0;
    bool operator==(const Node &) const = default;
};
struct Spring {
    bool exists = false;
    std::int32_t fx = 0, fy = 0; ///< at its begin
    bool operator==(const Spring &) const = default;
};
/// By number: y * width + x of a node; of a spring, where it begins, and its direction times
/// cells().
struct State {
    explicit State(const Rules &rules) : nodes(rules.cells()), springs(rules.springs()) {}
    std::vector<Node> nodes;
    std::vector<Spring> springs;
};
samples::Numbers numbers_of(const State &state);

enum class Purpose : std::uint32_t { whether_missing, how_stiff, how_strong, whether_weak };
std::uint32_t chance(const Rules &rules, std::uint32_t number, Purpose purpose);
/// The node where a spring would end, or nowhere. Directions are to the right, down to the right,
/// down to the left.
std::uint32_t end_of(const Rules &rules, std::uint32_t spring);
constexpr std::uint32_t nowhere = ~0u;
/// The pull at which a spring tears, in units.
std::int32_t strength_of(const Rules &rules, std::uint32_t spring);

/// A search (rules.cl): enqueue(loses, number) for rounds of its first part, then of its second,
/// some at a time until the last of them changed nothing. The device's word `latest` is the last
/// one that did, and `round` is that afterwards; numbers go on from there.
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
/// So many steps on the host.
State reference(const Rules &rules, std::uint32_t steps);

/// Springs as lines, by their forces.
void draw(const Rules &rules, const State &state, const std::filesystem::path &path);

} // namespace structure
