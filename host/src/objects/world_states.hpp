// The metadata of a world's blocks, read at rest.
#pragma once

#include <string>
#include <vector>

#include "kma/opencl.hpp"
#include "kma/schema.hpp"
#include "heap/common/layout.hpp"

namespace kma {

struct WorldStates {
    layout::kma_world world{};
    std::vector<layout::kma_world_block> blocks;
    /// the tree of free blocks, then for each class that of its blocks with free slots
    std::vector<std::uint32_t> trees;
    std::uint32_t tree_words = 0;     ///< words of one tree
    std::uint32_t slots = 0;          ///< bits of a block's state

    /// The lowest `count` bits.
    static std::uint64_t lowest(std::uint32_t count)
    {
        return count == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << count) - 1;
    }
    /// The objects in a block of a class with `of` objects in a block.
    std::uint64_t objects(std::size_t block, std::uint32_t of) const
    {
        return blocks[block].state.word & lowest(of);
    }
    /// Whether a block is in a tree, 0 or 1 + the number of a class.
    bool is_in(std::uint32_t tree, std::uint32_t block) const
    {
        return (trees[std::size_t{tree} * tree_words + block / 32] >> (block % 32) & 1) != 0;
    }
};

/// Throws Error if `status`, OpenCL's result of making a world of `bytes` bytes, means that there
/// is no memory for it, or that the driver, which guarantees buffers of `promised` bytes, refuses
/// this size.
void refuse_world_if_full(cl_int status, std::uint64_t bytes, std::uint64_t promised,
                          const std::string &device);

/// As World::check().
std::vector<std::string> check_world(const WorldStates &states, const Schema::Layout &layout);

} // namespace kma
