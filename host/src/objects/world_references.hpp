// What a world needs to follow references: the program of its visitors, the roots, and room for
// what a defragmentation notes.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "kma/world.hpp"

namespace kma {

struct WorldReferences {
    std::optional<Program> program; ///< Schema::visitors
    std::uint32_t group = 0;        ///< work-items of a group: whole blocks
    std::map<std::string, cl::Kernel> kernels;
    std::vector<std::weak_ptr<const WorldRoot::Range>> roots;

    // Of the steps of objects/defragment.cl.
    bool has_buffers = false;
    cl::Buffer done, fills, sums, list, firsts, moved;

    // World::defragment_when.
    double when = 1;
    struct Watch {
        bool is_on = false;
        std::uint32_t changes = 0;  ///< of the class, seen by enumerations since the last look
        std::uint32_t interval = 8; ///< so many until the next one
    };
    std::vector<Watch> watches; ///< by class

    /// The roots that are still said, and forgets the others.
    std::vector<std::shared_ptr<const WorldRoot::Range>> living_roots();
};

/// Throws the Error of a defragmentation for which there are not so many bytes of device memory.
[[noreturn]] void refuse_defragmentation(std::uint64_t bytes, cl_int error);

} // namespace kma
