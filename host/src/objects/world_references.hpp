// What a world needs to follow references: the program of visitors, the roots, and the buffers of a
// defragmentation.
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
    std::uint32_t group = 0;        ///< work-items of a group, a multiple of a block's slots
    std::map<std::string, cl::Kernel> kernels;
    std::vector<std::weak_ptr<const WorldRoot::Range>> roots;

    // Buffers for the steps of objects/defragment.cl.
    bool has_buffers = false;
    cl::Buffer done, fills, sums, list, firsts, moved;

    // Arguments of World::defragment_when.
    double when = 1;
    struct Watch {
        bool is_on = false;
        /// changes of the class that enumerations found since the last defragmentation check
        std::uint32_t changes = 0;
        std::uint32_t interval = 8; ///< changes until the next check
    };
    std::vector<Watch> watches; ///< by class number

    /// Returns the roots that are still registered, and drops the others.
    std::vector<std::shared_ptr<const WorldRoot::Range>> living_roots();
};

/// Throws the Error of a defragmentation that needs `bytes` bytes of device memory and got an
/// OpenCL error.
[[noreturn]] void refuse_defragmentation(std::uint64_t bytes, cl_int error);

} // namespace kma
